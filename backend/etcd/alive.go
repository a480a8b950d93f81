package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// keepAlive gives an etcd lease its whole TTL again. When it has ended, the error is one that notFound recognises.
//
// The driver's own call repeats without a pause while a member answers that it is unavailable, so this is one message on a stream of its own.
func (s *Store) keepAlive(ctx context.Context, id clientv3.LeaseID) (*pb.LeaseKeepAliveResponse, error) {
	got, err := hedge(ctx, s, func(ctx context.Context) (*pb.LeaseKeepAliveResponse, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := pb.NewLeaseClient(s.client.ActiveConnection()).LeaseKeepAlive(ctx)
		if err != nil {
			return nil, err
		}
		if err := stream.Send(&pb.LeaseKeepAliveRequest{ID: int64(id)}); err != nil {
			return nil, err
		}
		got, err := stream.Recv()
		if err == nil && got.TTL <= 0 {
			err = rpctypes.ErrLeaseNotFound
		}
		return got, rpctypes.Error(err)
	})
	if err == nil {
		s.note(got.Header)
	}
	return got, err
}
