package sqlite

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Magic numbers that golang.org/x/sys doesn't have.
const (
	lustreMagic = 0x0bd00bd0
	gfs2Magic   = 0x01161970
	vboxMagic   = 0x786f4256
)

// sharedKinds are file systems of several hosts, or of a virtual machine and its host.
var sharedKinds = map[uint32]string{
	unix.NFS_SUPER_MAGIC: "nfs", unix.CIFS_SUPER_MAGIC: "cifs", unix.SMB_SUPER_MAGIC: "smb", unix.SMB2_SUPER_MAGIC: "smb2", unix.AFS_SUPER_MAGIC: "afs",
	unix.AFS_FS_MAGIC: "afs", unix.CEPH_SUPER_MAGIC: "ceph", unix.CODA_SUPER_MAGIC: "coda", unix.NCP_SUPER_MAGIC: "ncp", unix.OCFS2_SUPER_MAGIC: "ocfs2",
	unix.V9FS_MAGIC: "9p", lustreMagic: "lustre", gfs2Magic: "gfs2", vboxMagic: "vboxsf",
}

// localFuse are kinds of FUSE that keep files on this host; the other ones are taken for shared.
var localFuse = map[string]bool{"fuseblk": true, "fuse.fuse-overlayfs": true, "fuse.gocryptfs": true, "fuse.encfs": true}

// sharedFileSystem returns the kind of the file system if other hosts may share it, and otherwise nothing.
func sharedFileSystem(path string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return "", fmt.Errorf("statfs %s: %w", path, err)
	}
	magic := uint32(st.Type) // some architectures sign-extend it
	if magic != unix.FUSE_SUPER_MAGIC {
		return sharedKinds[magic], nil
	}
	var file unix.Stat_t
	if err := unix.Stat(path, &file); err != nil {
		return "", fmt.Errorf("stat %s: %w", path, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	dev := uint64(file.Dev) //nolint:unconvert // 32 bits wide on some architectures
	return sharedFuse(string(mounts), fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev))), nil
}

// sharedFuse finds the kind of the FUSE file system on a device in the text of /proc/self/mountinfo.
func sharedFuse(mounts, device string) string {
	kind := "fuse"
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		if fields := strings.Fields(before); len(fields) > 2 && fields[2] == device {
			kind, _, _ = strings.Cut(after, " ")
		}
	}
	if localFuse[kind] {
		return ""
	}
	return kind
}
