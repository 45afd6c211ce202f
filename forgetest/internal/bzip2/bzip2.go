// Package bzip2 compresses data in the bzip2 format. The standard library can only decompress it.
package bzip2

import (
	"hash/crc32"
	"io"
	"math/bits"
	"slices"
)

// blockSize is the number of bytes in a block. Level 1 allows 100,000 bytes after the run-length
// step, which can make the data a quarter longer.
const blockSize = 75_000

// Writer compresses to valid bzip2. It uses a fixed code instead of an optimal one.
type Writer struct {
	w        io.Writer
	pending  []byte
	out      []byte
	bits     uint64
	bitCount uint
	crc      uint32
	err      error
}

// NewWriter returns a Writer that writes to w. Close ends the stream and leaves w open.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, out: []byte("BZh1")}
}

// Write compresses p in blocks; the rest waits for the next Write or for Close.
func (z *Writer) Write(p []byte) (int, error) {
	z.pending = append(z.pending, p...)
	for len(z.pending) >= blockSize && z.err == nil {
		z.block(z.pending[:blockSize])
		z.pending = append(z.pending[:0], z.pending[blockSize:]...)
	}
	return len(p), z.err
}

// Close compresses the rest and writes the end of the stream.
func (z *Writer) Close() error {
	if len(z.pending) > 0 {
		z.block(z.pending)
	}
	z.put(48, 0x177245385090)
	z.put(32, uint64(z.crc))
	z.put((8-z.bitCount%8)%8, 0)
	z.flush()
	return z.err
}

// block writes one block: run lengths, sorted rotations, move to front, fixed code.
func (z *Writer) block(data []byte) {
	crc := checksum(data)
	z.crc = bits.RotateLeft32(z.crc, 1) ^ crc
	last, origin := rotations(runLengths(data))
	symbols, used := moveToFront(last)
	z.put(48, 0x314159265359)
	z.put(32, uint64(crc))
	z.put(1, 0)
	z.put(24, uint64(origin))
	z.putUsed(used)

	alphabet := len(used) + 2
	short, length := codeLengths(alphabet)
	z.put(3, 2) // two equal tables, the minimum
	groups := (len(symbols) + 49) / 50
	z.put(15, uint64(groups))
	for range groups {
		z.put(1, 0)
	}
	for range 2 {
		z.putLengths(alphabet, short, length)
	}
	for _, s := range symbols {
		if s < short {
			z.put(uint(length-1), uint64(s))
		} else {
			z.put(uint(length), uint64(short+s))
		}
	}
	z.flush()
}

// codeLengths returns a complete prefix code: the first short symbols of the alphabet have length-1
// bits, the others length bits.
func codeLengths(alphabet int) (short, length int) {
	length = bits.Len(uint(alphabet - 1))
	return 1<<length - alphabet, length
}

func (z *Writer) putLengths(alphabet, short, length int) {
	current := length
	if short > 0 {
		current = length - 1
	}
	z.put(5, uint64(current))
	for s := range alphabet {
		if s == short && current < length {
			z.put(2, 0b10)
			current = length
		}
		z.put(1, 0)
	}
}

// putUsed writes the set of byte values that occur, as a two-level bitmap.
func (z *Writer) putUsed(used []byte) {
	var rows [16]uint16
	var top uint16
	for _, b := range used {
		rows[b>>4] |= 0x8000 >> (b & 15)
		top |= 0x8000 >> (b >> 4)
	}
	z.put(16, uint64(top))
	for _, row := range rows {
		if row != 0 {
			z.put(16, uint64(row))
		}
	}
}

func (z *Writer) put(n uint, value uint64) {
	for n > 0 {
		take := min(n, 16)
		n -= take
		z.bits = z.bits<<take | value>>n&(1<<take-1)
		for z.bitCount += take; z.bitCount >= 8; z.bitCount -= 8 {
			z.out = append(z.out, byte(z.bits>>(z.bitCount-8)))
		}
	}
}

func (z *Writer) flush() {
	if z.err == nil {
		_, z.err = z.w.Write(z.out)
	}
	z.out = z.out[:0]
}

// runLengths replaces the equal bytes after the first four by their count.
func runLengths(data []byte) []byte {
	out := make([]byte, 0, len(data)+len(data)/4+1)
	for i := 0; i < len(data); {
		n := 1
		for i+n < len(data) && n < 255+4 && data[i+n] == data[i] {
			n++
		}
		for range min(n, 4) {
			out = append(out, data[i])
		}
		if n >= 4 {
			out = append(out, byte(n-4))
		}
		i += n
	}
	return out
}

// rotations sorts all rotations by prefix doubling. It returns their last bytes and the index of
// the unrotated data.
func rotations(data []byte) (last []byte, origin int) {
	n := len(data)
	order, shifted, rank, next := make([]int, n), make([]int, n), make([]int, n), make([]int, n)
	for i, b := range data {
		shifted[i], rank[i] = i, int(b)
	}
	for width, classes := 0, 256; ; {
		sortByRank(order, shifted, rank, classes)
		classes = 0
		for i, at := range order {
			if i == 0 || rank[at] != rank[order[i-1]] || rank[(at+width)%n] != rank[(order[i-1]+width)%n] {
				classes++
			}
			next[at] = classes - 1
		}
		rank, next = next, rank
		if classes == n || width >= n {
			break
		}
		width = max(1, 2*width)
		for i, at := range order {
			shifted[i] = (at + n - width%n) % n
		}
	}
	last = make([]byte, n)
	for i, at := range order {
		last[i] = data[(at+n-1)%n]
		if at == 0 {
			origin = i
		}
	}
	return last, origin
}

// sortByRank is a stable counting sort.
func sortByRank(into, from, rank []int, classes int) {
	starts := make([]int, classes+1)
	for _, at := range from {
		starts[rank[at]+1]++
	}
	for i := range classes {
		starts[i+1] += starts[i]
	}
	for _, at := range from {
		into[starts[rank[at]]] = at
		starts[rank[at]]++
	}
}

// moveToFront returns the symbols of a block: runs of zeros as binary numbers of 0 and 1, positions
// plus one, and an end mark.
func moveToFront(data []byte) (symbols []int, used []byte) {
	used = slices.Clone(data)
	slices.Sort(used)
	used = slices.Compact(used)
	front := slices.Clone(used)
	zeros := 0
	flush := func() {
		for ; zeros > 0; zeros = (zeros - 1) / 2 {
			symbols = append(symbols, (zeros-1)%2)
		}
	}
	for _, b := range data {
		at := slices.Index(front, b)
		if at == 0 {
			zeros++
			continue
		}
		flush()
		copy(front[1:], front[:at])
		front[0] = b
		symbols = append(symbols, at+1)
	}
	flush()
	return append(symbols, len(used)+1), used
}

// checksum returns the CRC-32 of bzip2: the usual polynomial with the bits in reverse order.
func checksum(data []byte) uint32 {
	reversed := make([]byte, len(data))
	for i, b := range data {
		reversed[i] = bits.Reverse8(b)
	}
	return bits.Reverse32(crc32.ChecksumIEEE(reversed))
}
