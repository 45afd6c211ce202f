package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
)

// listInterruption interrupts a list at one page.
type listInterruption struct {
	name string
	// disturb is how the server handles a request for the page; nil means with the normal response.
	disturb func(k *trial, r pageResponse) act
	// before is called before the list begins.
	before func(k *trial)
	// consume is called with each item before it counts as delivered; page is the page of the item.
	consume func(k *trial, page int)
	// next returns the page to which the page links; 0 means the following one.
	next func(page int) int
	// sizes changes the sizes of the pages.
	sizes func(sizes []int, page int)
	// is reports whether an error is the expected one; nil means that the list must complete in spite
	// of the interruption.
	is func(err error) bool
	// late: the list may end before the interruption reaches it.
	late bool
	// through: the items of the page itself are delivered before the error.
	through bool
	// sampled: it is tested at some pages only.
	sampled bool
	// fresh: it makes no sense for a list that starts at a cursor.
	fresh bool
	// expires: the context ends by its deadline instead of a cancellation.
	expires bool
	options []RequestOption
}

func isAnyOf(targets ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
}

// brokenConnection matches the error of a lost connection: an *Error whose cause is not the end of
// a context.
func brokenConnection(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && !isAnyOf(context.Canceled, context.DeadlineExceeded, ErrServer, ErrInvalidResponse)(err)
}

func sendsText(text func(r pageResponse) act) func(*trial, pageResponse) act {
	return func(_ *trial, r pageResponse) act { return text(r) }
}

// sendsStatus responds to the request for the page with another status. The body is that of the
// page unless another one is given.
func sendsStatus(status int, body ...string) func(*trial, pageResponse) act {
	return sendsText(func(r pageResponse) act { return r.with(status, append(body, r.body)[0]).send() })
}

// listInterruptions are all interruptions except those that need a separate process.
var listInterruptions = []*listInterruption{
	{name: "undisturbed"},
	{name: "context cancelled before the list", is: isAnyOf(context.Canceled), sampled: true, before: func(k *trial) { k.cancel() }},
	{name: "context cancelled before the response", is: isAnyOf(context.Canceled), disturb: func(k *trial, _ pageResponse) act {
		return doThen(k.cancel, silent(""))
	}},
	{name: "context cancelled inside the body", is: isAnyOf(context.Canceled), disturb: func(k *trial, r pageResponse) act {
		return doThen(k.cancel, silent(r.torn()))
	}},
	{name: "context cancelled after the response", is: isAnyOf(context.Canceled), late: true, disturb: func(k *trial, r pageResponse) act {
		return func(conn net.Conn) bool {
			defer k.cancel()
			return r.send()(conn)
		}
	}},
	{name: "context cancelled by the caller", is: isAnyOf(context.Canceled), late: true, consume: func(k *trial, page int) {
		if page == k.at {
			k.cancel()
		}
	}},
	{name: "deadline expired", is: isAnyOf(context.DeadlineExceeded), expires: true, disturb: func(k *trial, _ pageResponse) act {
		return doThen(k.cancel, silent(""))
	}},
	{name: "deadline expired inside the body", is: isAnyOf(context.DeadlineExceeded), expires: true, disturb: func(k *trial, r pageResponse) act {
		return doThen(k.cancel, silent(r.torn()))
	}},
	{name: "reset before the response", is: brokenConnection, disturb: sendsText(func(pageResponse) act { return reset("") })},
	{name: "reset inside the body", is: brokenConnection, disturb: sendsText(func(r pageResponse) act { return reset(r.torn()) })},
	{name: "closed inside the header", sampled: true, is: brokenConnection, disturb: sendsText(func(r pageResponse) act { return closing(r.head()) })},
	{name: "body truncated", is: isAnyOf(io.ErrUnexpectedEOF), disturb: sendsText(func(r pageResponse) act { return closing(r.torn()) })},
	{name: "chunked body truncated", sampled: true, is: isAnyOf(io.ErrUnexpectedEOF), disturb: sendsText(func(r pageResponse) act {
		half := r.body[:len(r.body)/2]
		return closing(fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", r.head(), len(half), half))
	})},
	{name: "chunked body without its end", sampled: true, is: isAnyOf(io.ErrUnexpectedEOF), disturb: sendsText(func(r pageResponse) act {
		return closing(fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", r.head(), len(r.body), r.body))
	})},
	{name: "body of unknown length truncated", sampled: true, is: isAnyOf(io.ErrUnexpectedEOF, ErrInvalidResponse), disturb: sendsText(func(r pageResponse) act {
		return closing(r.head() + "Connection: close\r\n\r\n" + r.body[:len(r.body)/2])
	})},
	{name: "half a document", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsText(func(r pageResponse) act { return r.with(200, r.body[:len(r.body)/2]).send() })},
	{name: "empty body", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsStatus(200, "")},
	{name: "null", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsStatus(200, "null")},
	{name: "sign-in page", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsStatus(200, "<html><title>Sign in</title></html>")},
	{name: "502 again and again", is: isAnyOf(ErrServer), disturb: sendsStatus(502, "bad gateway")},
	{name: "404", is: isAnyOf(ErrNotFound), disturb: sendsStatus(404, `{"message":"404 Not found"}`)},
	{name: "206 with items", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsStatus(206)},
	{name: "206 without items", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsStatus(206, "[]")},
	{name: "202 without items", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsStatus(202, "[]")},
	{name: "204", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsText(func(r pageResponse) act {
		return func(conn net.Conn) bool {
			_, err := io.WriteString(conn, r.with(204, "").head()+"\r\n")
			return err == nil
		}
	})},
	{name: "304", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsText(func(r pageResponse) act {
		return func(conn net.Conn) bool {
			_, err := io.WriteString(conn, r.with(304, "").head()+"\r\n")
			return err == nil
		}
	})},
	{name: "empty page", sizes: func(sizes []int, page int) { sizes[page-1] = 0 }},
	{name: "next link to itself", is: isAnyOf(ErrRepeatedPage), through: true, next: func(page int) int { return page }},
	{name: "next link to the first page", sampled: true, is: isAnyOf(ErrRepeatedPage), through: true, fresh: true, next: func(int) int { return 1 }},
}

// doThen calls first before the act.
func doThen(first func(), then act) act {
	return func(conn net.Conn) bool {
		first()
		return then(conn)
	}
}
