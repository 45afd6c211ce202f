package forge

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"time"
)

// Decisions about feeds:
//
//   - The first walk is in the order of creation, which never changes: no row moves while it is
//     read, and rows without an update time are in it. It sends no bound until it has a row. What
//     changes meanwhile has a time after its start, so the next walk reads it.
//   - A walk of changes is in the order of the last change, and requests the next page by the time
//     of the last row: an edited row moves to the end, and no row moves to a page that was read.
//     Pages by number occur only within one time, where each page must begin with a row that was
//     read before (walk).
//   - There are no upper bounds: servers store microseconds and show milliseconds, so that a bound
//     that was read from a row excludes it. Audit events have windows of whole seconds instead.
//   - A mark stays the overlap behind the Date of the first response: a row of an earlier time is
//     visible by then. It has the rows after it that were consumed, exactly: a hash that collides
//     would lose a change. The content of a row is a part of it, because a second edit within the
//     shown precision has the same time.
//   - Nothing here reads a clock. The decisions are functions of what was read: progress has
//     what is consumed; walk and windows decide what is requested next.

// Mark is the place of a feed: what Since has delivered so far. It can be stored and passed to
// Since later, also by another process. It belongs to its list, like a Cursor: the endpoint, the
// path arguments and the filters. It contains times, ids and checksums, and no credential or host.
// It is URL-safe and has at most 16 KiB, usually less than 1 KiB. The zero Mark means everything.
type Mark string

const (
	markVersion = "1"
	maxMark     = 16 << 10 // bytes
)

// MarkAt returns the mark of any list that delivers what has changed at t or later, to the second:
// an item of the same second may be delivered, too. The zero time is the zero Mark.
func MarkAt(t time.Time) Mark {
	if t.IsZero() {
		return ""
	}
	return (&progress{at: t.UnixMilli()}).mark("")
}

// Forgotten returns the number of items that the next walk delivers again without a change: a mark
// has at most 16 KiB, which hold about 1,200 changes within the overlap. It is 0 for a mark that is
// not valid.
func (m Mark) Forgotten() int {
	list, _, _ := strings.Cut(strings.TrimPrefix(string(m), markVersion+"."), ".")
	p, err := m.progress(list)
	if err != nil {
		return 0
	}
	return p.forgotten
}

// row is what a feed knows of an item. Times are in milliseconds since 1970, as servers show them;
// 0 if there is none.
type row struct {
	id      int64
	at      int64  // by which the walk is ordered
	changed int64  // the time of the last change
	sum     uint32 // of the content, if the row is recent
}

// place is where the row is in a walk.
func (r row) place() [2]int64 { return [2]int64{r.id, r.at} }

// version is a row that was consumed. The content is a part of it.
type version struct {
	at, id int64
	sum    uint32
}

func (v version) compare(other version) int {
	return cmp.Or(cmp.Compare(v.at, other.at), cmp.Compare(v.id, other.id), cmp.Compare(v.sum, other.sum))
}

// versions are the last consumed versions of rows, sorted. If a replica that lags shows an older
// version after a newer one, the older one is delivered and takes its place here, so that the newer
// one is delivered again.
type versions struct {
	sorted []version
	byID   map[int64]version
}

func (all *versions) has(v version) bool {
	own, known := all.byID[v.id]
	return known && own == v
}

// put replaces the version of the row.
func (all *versions) put(v version) {
	all.remove(v.id)
	if all.byID == nil {
		all.byID = map[int64]version{}
	}
	all.byID[v.id] = v
	i, _ := slices.BinarySearchFunc(all.sorted, v, version.compare)
	all.sorted = slices.Insert(all.sorted, i, v)
}

func (all *versions) remove(id int64) bool {
	old, known := all.byID[id]
	if known {
		delete(all.byID, id)
		i, _ := slices.BinarySearchFunc(all.sorted, old, version.compare)
		all.sorted = slices.Delete(all.sorted, i, i+1)
	}
	return known
}

// forget removes the versions before the time.
func (all *versions) forget(before int64) {
	for len(all.sorted) > 0 && all.sorted[0].at < before {
		delete(all.byID, all.sorted[0].id)
		all.sorted = all.sorted[1:]
	}
}

// progress is the content of a mark: which rows are consumed.
type progress struct {
	copying bool  // the first walk, in the order of creation
	from    int64 // the changes to read after the first walk; 0 before its first response
	at      int64 // all rows of an earlier time are consumed; 0: none
	read    versions
	ties    versions // of the first walk, at its time
	limit   int64    // of at: the start of this walk minus the overlap

	forgotten int // versions that were too many for the mark
}

// begin starts a walk.
func (p *progress) begin(limit int64) {
	if p.limit = limit; p.copying && p.from == 0 {
		p.from = limit
	}
}

// has reports whether the row was consumed, in this content. Only the first walk has ties.
func (p *progress) has(r row) bool {
	return p.read.has(version{r.changed, r.id, r.sum}) || p.ties.has(version{r.at, r.id, r.sum})
}

// deliver is called before the row is delivered. It forgets another version of it, and reports
// whether there was one: the caller may store the row and crash before it stores the next mark.
func (p *progress) deliver(r row) bool {
	read, tied := p.read.remove(r.id), p.ties.remove(r.id)
	return read || tied
}

// consume records that the caller is done with the row, and with all before it.
func (p *progress) consume(r row) {
	v := version{r.changed, r.id, r.sum}
	switch {
	case !p.copying:
		p.read.put(v)
		p.advance(r.at)
		return
	case p.recent(r.changed):
		p.read.put(v)
	}
	if r.at > p.at {
		p.at, p.ties = r.at, versions{}
	}
	p.ties.put(version{r.at, r.id, r.sum})
}

// recent reports whether the next walk of changes reads a row of the time again.
func (p *progress) recent(changed int64) bool { return changed >= secondOf(p.from) }

// advance records that all rows before the time are consumed, as far as they are visible.
func (p *progress) advance(to int64) {
	p.at = max(p.at, min(to, p.limit))
	p.read.forget(secondOf(p.at))
}

// finish records that the walk has read all rows.
func (p *progress) finish() {
	if p.copying {
		p.copying, p.at, p.limit, p.from, p.ties = false, p.from, p.from, 0, versions{}
	}
	p.advance(p.limit)
}

// secondOf rounds a time down to the second, for servers that show no milliseconds.
func secondOf(at int64) int64 { return at - (at%1000+1000)%1000 }

// mark encodes it for a list. Of too many versions it has the latest, since the others leave the
// overlap first.
func (p *progress) mark(list string) Mark {
	room := maxMark*3/4 - 128
	if p.copying {
		room /= 2
	}
	read, forgotten := p.read.encode(room)
	ties, more := p.ties.encode(room)
	data := []byte{0}
	if p.copying {
		data[0] = 1
	}
	for _, n := range []int64{p.from, p.at, int64(forgotten + more)} {
		data = binary.AppendVarint(data, n)
	}
	data = append(append(data, read...), ties...)
	return Mark(markVersion + "." + list + "." + base64.RawURLEncoding.EncodeToString([]byte(cursorChecksum(list+string(data))+string(data))))
}

// encode encodes the latest versions that have room, as differences, and returns the number of the
// others.
func (all *versions) encode(room int) (data []byte, left int) {
	var last version
	for left = len(all.sorted); left > 0 && len(data) < room; left-- {
		v := all.sorted[left-1]
		data = binary.AppendVarint(binary.AppendVarint(data, last.at-v.at), v.id-last.id)
		data = binary.BigEndian.AppendUint32(data, v.sum)
		last = v
	}
	return append(binary.AppendVarint(nil, int64(len(all.sorted)-left)), data...), left
}

// progress decodes a mark of the list.
func (m Mark) progress(list string) (*progress, error) {
	invalid := func(reason string) (*progress, error) {
		return nil, &ValidationError{Option: "Since", Reason: reason}
	}
	parts := strings.Split(string(m), ".")
	switch {
	case m == "":
		return new(progress), nil
	case len(parts) != 3:
		return invalid("it is not a mark: use Response.Mark of an earlier list, or MarkAt")
	case parts[0] != markVersion:
		return invalid("the mark was made by another version of the package, which this one cannot read: use MarkAt, or start over")
	case parts[1] != list && parts[1] != "":
		return invalid("the mark belongs to another list: the endpoint, its path arguments and its filters must be those it was made with")
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(data) <= cursorChecksumSize || cursorChecksum(parts[1]+string(data[cursorChecksumSize:])) != string(data[:cursorChecksumSize]) {
		return invalid("the mark is damaged")
	}
	r := markReader{data: data[cursorChecksumSize+1:]}
	p := &progress{copying: data[cursorChecksumSize] == 1, from: r.number(), at: r.number(), forgotten: int(r.number())}
	p.read, p.ties = r.versions(), r.versions()
	if r.damaged {
		return invalid("the mark is damaged")
	}
	return p, nil
}

// markReader decodes the numbers of a mark.
type markReader struct {
	data    []byte
	damaged bool
}

func (r *markReader) number() int64 {
	n, size := binary.Varint(r.data)
	if size <= 0 {
		r.damaged, r.data = true, nil
		return 0
	}
	r.data = r.data[size:]
	return n
}

func (r *markReader) versions() (all versions) {
	var v version
	for n := r.number(); n > 0; n-- {
		v.at -= r.number()
		v.id += r.number()
		if len(r.data) < 4 {
			r.damaged = true
			return all
		}
		v.sum, r.data = binary.BigEndian.Uint32(r.data), r.data[4:]
		all.put(v)
	}
	return all
}
