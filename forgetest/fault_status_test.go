package forgetest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStatusFaults(t *testing.T) {
	for _, tc := range []struct {
		fault  Fault
		status int
		body   string
	}{
		{Status(200), 200, `{"message":"200 OK"}`},
		{Status(204), 204, ""},
		{Status(205), 205, ""},
		{Status(206), 206, `{"message":"206 Partial Content"}`},
		{Status(226), 226, `{"message":"226 IM Used"}`},
		{Status(304), 304, ""},
		{Status(425), 425, `{"message":"425 Too Early"}`},
		{Status(520), 520, `{"message":"520 Web Server Returned an Unknown Error"}`},
		{Status(521), 521, `{"message":"521 Web Server Is Down"}`},
		{Status(522), 522, `{"message":"522 Connection Timed Out"}`},
		{Status(523), 523, `{"message":"523 Origin Is Unreachable"}`},
		{Status(524), 524, `{"message":"524 A Timeout Occurred"}`},
		{Status(525), 525, `{"message":"525 SSL Handshake Failed"}`},
		{Status(526), 526, `{"message":"526 Invalid SSL Certificate"}`},
		{Status(527), 527, `{"message":"527 Railgun Error"}`},
		{Status(530), 530, `{"message":"530 Origin DNS Error"}`},
		{StatusMessage(409, `Resource lock "1"`), 409, `{"message":"Resource lock \"1\""}`},
	} {
		t.Run(fmt.Sprint(tc.status), func(t *testing.T) {
			s, c := faultWorld(t)
			s.Fail(subscribeRoute, tc.fault.Times(1))
			r := c.post("/projects/1/issues/1/subscribe")
			assert.Equal(t, tc.status, r.Status)
			assert.Equal(t, tc.body, r.Body)
			assert.Equal(t, tc.status, s.Requests()[0].Status)
			assert.Equal(t, 0, s.CountApplied("*"))
			assert.Equal(t, 201, c.post("/projects/1/issues/1/subscribe").Status, "the call was not executed")
		})
	}
}

// The response of the call is sent with another status.
func TestRestate(t *testing.T) {
	for _, code := range []int{202, 204, 205, 206, 226, 500} {
		s, c := faultWorld(t)
		want := c.post("/projects/1/issues/2/subscribe")
		s.Fail(subscribeRoute, OverrideStatus(code).Times(1))
		r := c.post("/projects/1/issues/1/subscribe")
		assert.Equal(t, code, r.Status)
		if code != 204 {
			assert.Len(t, r.Body, len(want.Body))
		}
		assert.Equal(t, code, s.Requests()[1].Status)
		assert.Equal(t, 2, s.CountApplied(subscribeRoute), "the call was executed")
	}
}

func TestInterim(t *testing.T) {
	s, c := faultWorld(t)
	s.Fail("GET /issues", Informational(103).Times(1))
	var got []string
	trace := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		got = append(got, fmt.Sprint(code, " ", h.Get("Link")))
		return nil
	}})
	r, err := http.NewRequestWithContext(trace, http.MethodGet, c.base+"/issues", nil)
	require.NoError(t, err)
	r.Header.Set("PRIVATE-TOKEN", s.Token)
	response, err := c.http.Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	require.NoError(t, err)
	assert.Equal(t, []string{"103 </assets/style.css>; rel=preload; as=style"}, got)
	assert.Equal(t, 200, response.StatusCode)
	assert.NotContains(t, response.Header.Get("Link"), "preload")
	assert.Equal(t, c.get("/issues").Body, string(body))
}

// After an interim response without a final one the connection is closed; after 101 it stays open
// and silent until the client or the server closes it.
func TestUnfinished(t *testing.T) {
	for code, want := range map[int]string{
		100: "HTTP/1.1 100 Continue\r\n\r\n",
		101: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		103: "HTTP/1.1 103 Early Hints\r\n\r\n",
	} {
		s := New(t)
		s.Fail("GET /issues", Status(code))
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		require.NoError(t, err)
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "GET /api/v4/issues HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: %s\r\n\r\n", s.Token)
		require.NoError(t, err)
		reader := bufio.NewReader(conn)
		head := make([]byte, len(want))
		_, err = io.ReadFull(reader, head)
		require.NoError(t, err)
		assert.Equal(t, want, string(head))
		if code == 101 {
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
			_, err = reader.ReadByte()
			require.ErrorContains(t, err, "timeout", "it is still open")
			require.NoError(t, conn.SetReadDeadline(time.Time{}))
			s.Close()
		}
		_, err = reader.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		s.Close()
		assert.Equal(t, code, s.Requests()[0].Status)
	}
}

func TestRefuseKeyset(t *testing.T) {
	s := New(t)
	s.AddUsers(3, "user")
	c := newCaller(t, s)
	s.Fail("GET /users", RefuseKeyset().After(1).Times(1))
	const keyset = "/users?pagination=keyset&order_by=id&sort=asc"
	var got []int
	for _, path := range []string{"/users", keyset, "/users?page=2", keyset, "/users", keyset} {
		got = append(got, c.get(path).Status)
	}
	assert.Equal(t, []int{200, 200, 200, 405, 200, 200}, got)
	s.Fail("*", RefuseKeyset())
	assert.JSONEq(t, `{"message":"405 Method Not Allowed"}`, c.get(keyset).Body)
}
