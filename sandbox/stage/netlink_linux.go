package stage

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Messages to the kernel are written by hand: a helper that starts with each command has no
// time for a library, and says always the same.

// A message is one of netlink that is being written.
type message []byte

// begin starts a message of a kind behind what is there; done ends it.
func (m *message) begin(kind, flags uint16, seq uint32, body ...byte) (done func()) {
	at := len(*m)
	*m = append(*m, make([]byte, unix.SizeofNlMsghdr)...)
	head := (*m)[at:]
	binary.NativeEndian.PutUint16(head[4:], kind)
	binary.NativeEndian.PutUint16(head[6:], flags|unix.NLM_F_REQUEST)
	binary.NativeEndian.PutUint32(head[8:], seq)
	*m = append(*m, body...)
	return func() { binary.NativeEndian.PutUint32((*m)[at:], uint32(len(*m)-at)) }
}

// attr adds an attribute.
func (m *message) attr(kind uint16, value ...byte) {
	*m = binary.NativeEndian.AppendUint16(*m, uint16(4+len(value)))
	*m = binary.NativeEndian.AppendUint16(*m, kind)
	*m = append(*m, value...)
	*m = append(*m, make([]byte, -len(value)&3)...)
}

func (m *message) text(kind uint16, s string) { m.attr(kind, append([]byte(s), 0)...) }

// number adds an attribute of the kind that nftables has.
func (m *message) number(kind uint16, n uint32) {
	m.attr(kind, binary.BigEndian.AppendUint32(nil, n)...)
}

// nest adds an attribute that consists of others.
func (m *message) nest(kind uint16, fill func()) {
	at := len(*m)
	*m = append(*m, 0, 0, 0, 0)
	fill()
	binary.NativeEndian.PutUint16((*m)[at:], uint16(len(*m)-at))
	binary.NativeEndian.PutUint16((*m)[at+2:], kind|unix.NLA_F_NESTED)
}

// talk sends messages to a part of the kernel and returns its answers to those that asked for
// one, by their number: nil is a yes. It returns when all of them, or an error, have come.
func talk(family int, m message, asked ...uint32) (map[uint32]error, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, family)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, m, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	// What the kernel has to say, it has said before the call above returned.
	answers, buf := map[uint32]error{}, make([]byte, 16<<10)
	for len(answers) < len(asked) {
		n, _, err := unix.Recvfrom(fd, buf, unix.MSG_DONTWAIT)
		if err != nil {
			return answers, fmt.Errorf("no answer from the kernel: %w", err)
		}
		if err := readAnswers(buf[:n], answers); err != nil {
			return answers, err
		}
	}
	return answers, nil
}

func readAnswers(data []byte, into map[uint32]error) error {
	for len(data) >= unix.SizeofNlMsghdr+4 {
		size := int(binary.NativeEndian.Uint32(data))
		if size < unix.SizeofNlMsghdr+4 || size > len(data) {
			return errors.New("an answer of the kernel is not understood")
		}
		if binary.NativeEndian.Uint16(data[4:]) == unix.NLMSG_ERROR {
			var err error
			if errno := -int32(binary.NativeEndian.Uint32(data[unix.SizeofNlMsghdr:])); errno != 0 {
				err = unix.Errno(errno)
			}
			into[binary.NativeEndian.Uint32(data[8:])] = err
		}
		data = data[min((size+3)&^3, len(data)):]
	}
	return nil
}

// dummy is an address that says that there is IPv4 (RFC 7600). Programs that find only loopback
// addresses take the machine for one without a network and ask for no names.
var dummy = [4]byte{192, 0, 0, 8}

// loopback is the number of the interface lo, the first of each namespace.
const loopback = 1

// everyAddress makes every address one of this namespace: lo goes up, and all is routed to it.
// It reports whether that is so for IPv6, which a machine may not have.
func everyAddress() (six bool, err error) {
	const up, four, sixth, address = 1, 2, 3, 4
	var m message
	link := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(link[4:], loopback)
	binary.NativeEndian.PutUint32(link[8:], unix.IFF_UP)
	binary.NativeEndian.PutUint32(link[12:], unix.IFF_UP)
	m.begin(unix.RTM_NEWLINK, unix.NLM_F_ACK, up, link...)()
	for seq, family := range map[uint32]byte{four: unix.AF_INET, sixth: unix.AF_INET6} {
		done := m.begin(unix.RTM_NEWROUTE, unix.NLM_F_ACK|unix.NLM_F_CREATE, seq,
			family, 0, 0, 0, unix.RT_TABLE_LOCAL, unix.RTPROT_BOOT, unix.RT_SCOPE_HOST, unix.RTN_LOCAL, 0, 0, 0, 0)
		m.attr(unix.RTA_OIF, binary.NativeEndian.AppendUint32(nil, loopback)...)
		done()
	}
	done := m.begin(unix.RTM_NEWADDR, unix.NLM_F_ACK|unix.NLM_F_CREATE, address,
		append([]byte{unix.AF_INET, 32, 0, unix.RT_SCOPE_UNIVERSE},
			binary.NativeEndian.AppendUint32(nil, loopback)...)...)
	m.attr(unix.IFA_LOCAL, dummy[:]...)
	m.attr(unix.IFA_ADDRESS, dummy[:]...)
	done()
	answers, err := talk(unix.NETLINK_ROUTE, m, up, four, sixth, address)
	if err := errors.Join(err, answers[up], answers[four], answers[address]); err != nil {
		return false, fmt.Errorf("making every address local: %w", err)
	}
	return answers[sixth] == nil, nil
}

// Numbers of nftables that package unix does not have.
const (
	protoInet    = 1 // both versions of the protocol
	hookOutput   = 3
	beforeFilter = 0xffffff9c // -100, where addresses are changed
	offset4      = 16         // of the destination in a packet's head
	offset6      = 24
)

// capture leads every TCP connection that is not to a loopback address to a port of the
// namespace's own loopback.
func capture(port uint16) error {
	const last = 1
	var m message
	head := func(family byte) []byte { return []byte{family, unix.NFNETLINK_V0, 0, 0} }
	batch := []byte{unix.AF_UNSPEC, unix.NFNETLINK_V0, 0, unix.NFNL_SUBSYS_NFTABLES}
	add := func(kind, flags uint16, seq uint32) func() {
		return m.begin(unix.NFNL_SUBSYS_NFTABLES<<8|kind, unix.NLM_F_CREATE|flags, seq, head(protoInet)...)
	}
	m.begin(unix.NFNL_MSG_BATCH_BEGIN, 0, 0, batch...)()
	done := add(unix.NFT_MSG_NEWTABLE, 0, 0)
	m.text(unix.NFTA_TABLE_NAME, "assent")
	done()
	done = add(unix.NFT_MSG_NEWCHAIN, 0, 0)
	m.text(unix.NFTA_CHAIN_TABLE, "assent")
	m.text(unix.NFTA_CHAIN_NAME, "out")
	m.nest(unix.NFTA_CHAIN_HOOK, func() {
		m.number(unix.NFTA_HOOK_HOOKNUM, hookOutput)
		m.number(unix.NFTA_HOOK_PRIORITY, beforeFilter)
	})
	m.text(unix.NFTA_CHAIN_TYPE, "nat")
	done()
	rule := func(flags uint16, seq uint32, family byte, at uint32, local []byte) {
		done := add(unix.NFT_MSG_NEWRULE, unix.NLM_F_APPEND|flags, seq)
		m.text(unix.NFTA_RULE_TABLE, "assent")
		m.text(unix.NFTA_RULE_CHAIN, "out")
		m.nest(unix.NFTA_RULE_EXPRESSIONS, func() {
			m.meta(unix.NFT_META_NFPROTO)
			m.compare(unix.NFT_CMP_EQ, family)
			m.meta(unix.NFT_META_L4PROTO)
			m.compare(unix.NFT_CMP_EQ, unix.IPPROTO_TCP)
			m.expression("payload", func() {
				m.number(unix.NFTA_PAYLOAD_DREG, unix.NFT_REG_1)
				m.number(unix.NFTA_PAYLOAD_BASE, unix.NFT_PAYLOAD_NETWORK_HEADER)
				m.number(unix.NFTA_PAYLOAD_OFFSET, at)
				m.number(unix.NFTA_PAYLOAD_LEN, uint32(len(local)))
			})
			m.compare(unix.NFT_CMP_NEQ, local...)
			m.expression("immediate", func() {
				m.number(unix.NFTA_IMMEDIATE_DREG, unix.NFT_REG_1)
				m.nest(unix.NFTA_IMMEDIATE_DATA, func() { m.attr(unix.NFTA_DATA_VALUE, byte(port>>8), byte(port)) })
			})
			m.expression("redir", func() { m.number(unix.NFTA_REDIR_REG_PROTO_MIN, unix.NFT_REG_1) })
		})
		done()
	}
	rule(0, 0, unix.NFPROTO_IPV4, offset4, []byte{127})
	rule(unix.NLM_F_ACK, last, unix.NFPROTO_IPV6, offset6, []byte{15: 1})
	m.begin(unix.NFNL_MSG_BATCH_END, 0, 0, batch...)()
	answers, err := talk(unix.NETLINK_NETFILTER, m, last)
	for _, e := range answers {
		err = errors.Join(err, e)
	}
	return err
}

// expression adds a part of a rule.
func (m *message) expression(name string, fill func()) {
	m.nest(unix.NFTA_LIST_ELEM, func() {
		m.text(unix.NFTA_EXPR_NAME, name)
		m.nest(unix.NFTA_EXPR_DATA, fill)
	})
}

// meta loads something about a packet, to be compared.
func (m *message) meta(key uint32) {
	m.expression("meta", func() {
		m.number(unix.NFTA_META_DREG, unix.NFT_REG_1)
		m.number(unix.NFTA_META_KEY, key)
	})
}

func (m *message) compare(how uint32, value ...byte) {
	m.expression("cmp", func() {
		m.number(unix.NFTA_CMP_SREG, unix.NFT_REG_1)
		m.number(unix.NFTA_CMP_OP, how)
		m.nest(unix.NFTA_CMP_DATA, func() { m.attr(unix.NFTA_DATA_VALUE, value...) })
	})
}
