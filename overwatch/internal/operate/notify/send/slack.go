package send

import (
	"context"
	"net/http"
	"strings"
)

// maxSlack is the maximum size of a text in octets. Slack truncates texts of more than 40 000 characters.
const maxSlack = 30_000

// slack posts messages to an incoming webhook of Slack or of a compatible service, such as Mattermost.
type slack struct {
	url    string
	client *http.Client
}

// Send implements Sender.
func (s *slack) Send(ctx context.Context, m Message) error {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;") // Slack's control characters
	text := "*" + escape.Replace(m.title()) + "*\n" + escape.Replace(m.lines())
	return post(ctx, s.client, s.url, map[string]string{"text": cut(text, maxSlack) + "_told by " + m.Node + "_"})
}
