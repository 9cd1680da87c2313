package router

// Mix is a 64-bit finalizer (splitmix64): a bijection whose output bits all
// depend on all input bits. Every draw of the core and of the shipped
// strategies comes from it, so runs are reproducible from seeds.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// HashID hashes a worker's ID (FNV-1a, finalized) for rendezvous orders.
func HashID(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return Mix(h)
}

// Rendezvous is the weight of a worker for a key in highest-random-weight
// order: the key belongs to the worker with the largest weight. idHash is the
// worker's HashID.
func Rendezvous(key, idHash uint64) uint64 { return Mix(key ^ idHash) }
