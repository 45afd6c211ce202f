package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"
)

// What interrupts the lists of TestCompleteOrError.

// listInterruption is what happens to a list at one page.
type listInterruption struct {
	name string
	// disturb is what the server does about a request for the page; nil for an undisturbed
	// response.
	disturb func(k *trial, r pageResponse) act
	// before is called before the list begins.
	before func(k *trial)
	// consume is called with each item before it counts as delivered; page is the page that it is
	// on.
	consume func(k *trial, page int)
	// next is the page that the page leads to; 0 for the one behind it.
	next func(page int) int
	// sizes changes the sizes of the pages.
	sizes func(sizes []int, page int)
	// hook is called by WithOnAttempt for each attempt at the page.
	hook func(k *trial)
	// ends are the ways in which the loop may end where the hook ends it.
	ends []endingKind
	// is reports whether an error is the right one; nil for an interruption that the list must
	// survive.
	is func(err error) bool
	// late: the interruption need not reach the list before its end.
	late bool
	// through: the items of the page itself are delivered before the error.
	through bool
	// sampled: it is tried at some pages, not at all.
	sampled bool
	// fresh: it is of no sense behind a cursor.
	fresh    bool
	deadline time.Duration
	options  []RequestOption
}

func isAnyOf(targets ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
}

// brokenConnection matches what a lost connection looks like: an *Error without a context's end as
// its cause.
func brokenConnection(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && !isAnyOf(context.Canceled, context.DeadlineExceeded, ErrServer, ErrAnswer)(err)
}

func sendsText(text func(r pageResponse) act) func(*trial, pageResponse) act {
	return func(_ *trial, r pageResponse) act { return text(r) }
}

// sendsStatus answers the page with another status, and with its body unless another is given.
func sendsStatus(status int, body ...string) func(*trial, pageResponse) act {
	return sendsText(func(r pageResponse) act { return r.with(status, append(body, r.body)[0]).send() })
}

// listInterruptions are all of them, but for those that need a process of their own.
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
	{name: "deadline expired", is: isAnyOf(context.DeadlineExceeded), deadline: 15 * time.Millisecond, disturb: sendsText(func(pageResponse) act {
		return silent("")
	})},
	{name: "deadline expired inside the body", is: isAnyOf(context.DeadlineExceeded), deadline: 15 * time.Millisecond,
		disturb: sendsText(func(r pageResponse) act { return silent(r.torn()) })},
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
	{name: "body of unknown length truncated", sampled: true, is: isAnyOf(io.ErrUnexpectedEOF, ErrAnswer), disturb: sendsText(func(r pageResponse) act {
		return closing(r.head() + "Connection: close\r\n\r\n" + r.body[:len(r.body)/2])
	})},
	{name: "half a document", sampled: true, is: isAnyOf(ErrAnswer), disturb: sendsText(func(r pageResponse) act { return r.with(200, r.body[:len(r.body)/2]).send() })},
	{name: "empty body", sampled: true, is: isAnyOf(ErrAnswer), disturb: sendsStatus(200, "")},
	{name: "null", sampled: true, is: isAnyOf(ErrAnswer), disturb: sendsStatus(200, "null")},
	{name: "sign-in page", sampled: true, is: isAnyOf(ErrAnswer), disturb: sendsStatus(200, "<html><title>Sign in</title></html>")},
	{name: "502 again and again", is: isAnyOf(ErrServer), disturb: sendsStatus(502, "bad gateway")},
	{name: "404", is: isAnyOf(ErrNotFound), disturb: sendsStatus(404, `{"message":"404 Not found"}`)},
	{name: "206 with items", sampled: true, is: isAnyOf(ErrAnswer), disturb: sendsStatus(206)},
	{name: "206 without items", sampled: true, is: isAnyOf(ErrAnswer), disturb: sendsStatus(206, "[]")},
	{name: "202 without items", sampled: true, is: isAnyOf(ErrAnswer), disturb: sendsStatus(202, "[]")},
	{name: "204", sampled: true, is: isAnyOf(ErrAnswer), disturb: sendsText(func(r pageResponse) act {
		return func(conn net.Conn) bool {
			_, err := io.WriteString(conn, r.with(204, "").head()+"\r\n")
			return err == nil
		}
	})},
	{name: "304", sampled: true, is: isAnyOf(ErrAnswer), disturb: sendsText(func(r pageResponse) act {
		return func(conn net.Conn) bool {
			_, err := io.WriteString(conn, r.with(304, "").head()+"\r\n")
			return err == nil
		}
	})},
	{name: "empty page", sizes: func(sizes []int, page int) { sizes[page-1] = 0 }},
	{name: "next link to itself", is: isAnyOf(ErrRepeatedPage), through: true, next: func(page int) int { return page }},
	{name: "next link to the first page", sampled: true, is: isAnyOf(ErrRepeatedPage), through: true, fresh: true, next: func(int) int { return 1 }},
}

// doThen does something before the act.
func doThen(first func(), then act) act {
	return func(conn net.Conn) bool {
		first()
		return then(conn)
	}
}
