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

package uiwalk

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// uiRoot is how a page of Spark tells its scripts where the UI starts.
var uiRoot = regexp.MustCompile(`setUIRoot\('([^']*)'\)`)

var linkAttributes = []string{"href", "src", "action", "formaction"}

// page looks at the links of a page, and plans to visit them.
func (w *Walk) page(at *url.URL, body string) {
	document, err := html.Parse(strings.NewReader(body))
	if err != nil {
		w.problem("%s is no HTML: %v", at, err)
		return
	}
	base := at
	for node := range document.Descendants() {
		if node.Type == html.ElementNode && node.Data == "base" {
			base = w.resolve(at, at, attribute(node, "href"))
		}
	}
	for node := range document.Descendants() {
		if node.Type == html.ElementNode {
			w.element(at, base, node)
		}
	}
	for _, match := range uiRoot.FindAllStringSubmatch(body, -1) {
		root := w.resolve(at, base, match[1]+"/")
		if strings.TrimSuffix(root.Path, "/") != strings.TrimSuffix(w.Root.Path, "/") {
			w.problem("%s says that the UI starts at %s", at, root)
			continue
		}
		for _, asked := range []string{"api/v1/applications", "static/executorspage-template.html", "static/stagespage-template.html"} {
			w.add(root.JoinPath(asked), "a script of "+at.Path)
		}
		w.add(w.resolve(at, base, match[1]+"/api/v1/version"), "a script of "+at.Path)
	}
}

func (w *Walk) element(at, base *url.URL, node *html.Node) {
	for _, name := range linkAttributes {
		link := attribute(node, name)
		if link == "" || strings.HasPrefix(link, "#") || strings.HasPrefix(link, "javascript:") || strings.HasPrefix(link, "data:") {
			continue
		}
		to := w.resolve(at, base, link)
		parsed, _ := url.Parse(link)
		switch {
		case node.Data == "base":
			continue
		case parsed != nil && parsed.Host != "" && parsed.Host != w.Root.Host:
			if !slices.Contains(w.External, link) {
				w.External = append(w.External, link)
			}
			continue
		case parsed != nil && (parsed.Host != "" || strings.HasPrefix(parsed.Path, "/")):
			w.problem("%s has an absolute link: <%s %s=%q>", at, node.Data, name, link)
			continue
		}
		if slices.Contains(strings.Split(to.Path, "/"), "kill") {
			if node.Data != "form" || !strings.EqualFold(attribute(node, "method"), "POST") {
				w.problem("%s ends something by a link: %s", at, link)
			} else if kill := to.String() + "#" + hidden(node); !slices.Contains(w.Kills, kill) {
				w.Kills = append(w.Kills, kill)
			}
			continue
		}
		w.add(to, at.Path)
	}
}

// hidden returns what a form sends besides, as a query.
func hidden(form *html.Node) string {
	values := url.Values{}
	for node := range form.Descendants() {
		if node.Type == html.ElementNode && node.Data == "input" && attribute(node, "name") != "" {
			values.Set(attribute(node, "name"), attribute(node, "value"))
		}
	}
	return values.Encode()
}

func (w *Walk) resolve(at, base *url.URL, link string) *url.URL {
	to, err := base.Parse(strings.TrimSpace(link))
	if err != nil {
		w.problem("%s has a link that is none: %q: %v", at, link, err)
		return w.Root
	}
	return to
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// applications is what the API of the UI answers first, from which Spark's scripts take the id of the application for all
// that they ask for.
func (w *Walk) applications(at *url.URL, body []byte) {
	var found []struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(body, &found); err != nil || len(found) != 1 {
		w.problem("%s is not the list of one application: %.200s", at, body)
		return
	}
	for _, asked := range []string{"allexecutors", "allmiscellaneousprocess", "environment", "jobs", "stages", "sql", "storage/rdd"} {
		w.add(at.JoinPath(found[0].ID, asked), "a script")
	}
}
