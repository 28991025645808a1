/*
Copyright The spark-apiserver Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package sparkui

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxToken bounds how much of a page is held in memory at a time: the longest tag or script in it. The event timeline of
// many tasks is one script.
const maxToken = 32 << 20

// linkAttributes are those whose value is an address.
var linkAttributes = []string{"href", "src", "action", "formaction", "data", "poster", "background", "cite", "xlink:href"}

// html makes the links of a page relative. What needs no change stays as it is, byte for byte.
func (r *round) html(w io.Writer, body io.Reader) error {
	out := bufio.NewWriterSize(w, 32<<10)
	tokens := html.NewTokenizer(body)
	tokens.SetMaxBuf(maxToken)
	inKill, moved := false, r.moved
	for {
		kind := tokens.Next()
		raw := slices.Clone(tokens.Raw())
		text := ""
		switch kind {
		case html.ErrorToken:
			// What is left is what the page ends with in the middle of a tag.
			if _, err := out.Write(raw); err != nil {
				return err
			}
			if err := tokens.Err(); !errors.Is(err, io.EOF) {
				return fmt.Errorf("rewriting a page: %w", err)
			}
			return out.Flush()
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			changed := r.relative(&token)
			switch {
			case token.DataAtom == atom.A && !inKill && killLink(&token):
				inKill, text = true, killForm(&token)
			case changed:
				text = token.String()
			}
			if moved != "" && token.DataAtom == atom.Head {
				text = cmp.Or(text, string(raw)) + base(moved)
				moved = ""
			}
		case html.EndTagToken:
			if token := tokens.Token(); inKill && token.DataAtom == atom.A {
				inKill, text = false, "</button></form>"
			}
		case html.TextToken, html.CommentToken, html.DoctypeToken:
		}
		var err error
		if text != "" {
			_, err = out.WriteString(text)
		} else {
			_, err = out.Write(raw)
		}
		if err != nil {
			return err
		}
	}
}

// relative makes the links of a tag relative, and tells whether there was any to change.
func (r *round) relative(token *html.Token) bool {
	changed := false
	for i := range token.Attr {
		attribute := &token.Attr[i]
		if !slices.Contains(linkAttributes, attribute.Key) {
			continue
		}
		if link, ok := r.relativeLink(attribute.Val); ok {
			attribute.Val, changed = link, true
		}
	}
	return changed
}

// relativeLink makes a link relative that leads to the UI by an absolute path. It is false for one that needs no change.
func (r *round) relativeLink(link string) (string, bool) {
	trimmed := strings.TrimSpace(link)
	if !strings.Contains(trimmed, "/") {
		return "", false
	}
	parsed, err := url.Parse(trimmed)
	if err != nil || (parsed.Host != "" && parsed.Host != r.target) || (parsed.Host == "" && parsed.Scheme != "") {
		return "", false
	}
	if parsed.Host == "" && !strings.HasPrefix(parsed.Path, "/") {
		return "", false
	}
	parsed.Scheme, parsed.Host, parsed.User = "", "", nil
	return r.base + "/" + strings.TrimLeft(parsed.String(), "/"), true
}

// base returns the tag that says where the links of a page start from.
func base(href string) string {
	tag := html.Token{Type: html.StartTagToken, DataAtom: atom.Base, Data: "base", Attr: []html.Attribute{{Key: "href", Val: href}}}
	return tag.String()
}

// killLink tells whether a tag is a link that ends something, as Spark 3.5 has it.
func killLink(token *html.Token) bool {
	parsed, err := url.Parse(attribute(token, "href"))
	return err == nil && kills(parsed.Path)
}

// confirmation is the question that a kill link of Spark asks before.
var confirmation = regexp.MustCompile(`window\.confirm\('[^'\\]*'\)`)

// killForm returns the beginning of a form with a button that does by POST what a link would do by GET.
func killForm(link *html.Token) string {
	form := html.Token{Type: html.StartTagToken, DataAtom: atom.Form, Data: "form", Attr: []html.Attribute{
		{Key: "method", Val: "POST"}, {Key: "action", Val: attribute(link, "href")}, {Key: "style", Val: "display:inline"},
		{Key: "class", Val: attribute(link, "class")},
	}}
	button := html.Token{Type: html.StartTagToken, DataAtom: atom.Button, Data: "button", Attr: []html.Attribute{
		{Key: "type", Val: "submit"}, {Key: "class", Val: "btn btn-link p-0"},
	}}
	if question := confirmation.FindString(attribute(link, "onclick")); question != "" {
		button.Attr = append(button.Attr, html.Attribute{Key: "onclick", Val: "return " + question})
	}
	return form.String() + button.String()
}

func attribute(token *html.Token, key string) string {
	for _, a := range token.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
