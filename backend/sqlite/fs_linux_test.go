package sqlite

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tenure-go/tenure/backend"
)

func TestSharedFileSystemsAreRefused(t *testing.T) {
	t.Parallel()
	for magic, kind := range map[uint32]string{
		unix.NFS_SUPER_MAGIC: "nfs", unix.CIFS_SUPER_MAGIC: "cifs", unix.SMB2_SUPER_MAGIC: "smb2", unix.CEPH_SUPER_MAGIC: "ceph", unix.V9FS_MAGIC: "9p",
		unix.EXT4_SUPER_MAGIC: "", unix.XFS_SUPER_MAGIC: "", unix.BTRFS_SUPER_MAGIC: "", unix.TMPFS_MAGIC: "", unix.OVERLAYFS_SUPER_MAGIC: "",
	} {
		if got := sharedKinds[magic]; got != kind {
			t.Errorf("magic %#x is taken for %q, want %q", magic, got, kind)
		}
	}
	const mounts = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 22 0:50 / /mnt/ssh rw,nosuid shared:9 - fuse.sshfs host:/srv rw,user_id=0
41 22 0:51 / /mnt/usb rw - fuseblk /dev/sdb1 rw
42 22 0:52 / /mnt/vm rw - virtiofs share rw
43 22 0:53 / /var/lib/containers rw - fuse.fuse-overlayfs fuse-overlayfs rw
`
	for device, kind := range map[string]string{"0:50": "fuse.sshfs", "0:51": "", "0:52": "virtiofs", "0:53": "", "0:99": "fuse"} {
		if got := sharedFuse(mounts, device); got != kind {
			t.Errorf("device %s is taken for %q, want %q", device, got, kind)
		}
	}
}

func TestRefusalOfASharedFileSystemSaysWhatToDo(t *testing.T) {
	t.Parallel()
	if err := checkFileSystem(t.TempDir()); err != nil {
		t.Fatalf("a local folder is refused: %v", err)
	}
	err := refuse("/data/leases.db", "nfs")
	if !errors.Is(err, backend.ErrInvalid) || !strings.Contains(err.Error(), "local disk") || !strings.Contains(err.Error(), "nfs") {
		t.Errorf("%v", err)
	}
}
