# The least that a candidate needs in Consul, for elections under the prefix "tenure", the default.
#
#   consul acl policy create -name tenure -rules @consul.hcl
#   consul acl token create -policy-name tenure -description "tenure candidates"
#
# Who only observes needs policy = "read" on the prefix, and no sessions.

# Leaders, beats, counters, rosters and the floor of tokens. Nothing else is read or written.
key_prefix "tenure/" {
  policy = "write"
}

# One session for each process that leads, and one for each that is listed in a roster, on the node of the agent (or server) that it talks to. The rule names nodes, not
# sessions: narrow it to those nodes where their names are known.
session_prefix "" {
  policy = "write"
}

# Only for warnings (tenure doctor, strict=1): the version and the settings of the agent. Leases don't need it.
#
# agent_prefix "" {
#   policy = "read"
# }
