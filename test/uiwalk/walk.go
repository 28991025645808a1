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

// Package uiwalk walks a Spark UI as a browser does: every page, link, script, style and picture, and what the scripts ask
// for besides. It finds what would not work under the path of somebody else's: absolute links and redirects.
package uiwalk

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Walk is a walk through a UI.
type Walk struct {
	// Client asks for pages. Its credentials are those of the user who walks.
	Client *http.Client
	// Root is where the UI starts. Nothing above it is asked for.
	Root *url.URL

	// Pages are the paths below the root that were found to work, without parameters.
	Pages map[string]bool
	// Requests is how many addresses were asked for.
	Requests int
	// Kills are the addresses of the forms that end something.
	Kills []string
	// External are links to other sites, which are not followed.
	External []string
	// Problems are what doesn't work.
	Problems []string

	seen  map[string]bool
	queue []step
}

type step struct {
	to   *url.URL
	from string
}

// maxRequests ends a walk that finds no end.
const maxRequests = 2000

// absoluteInScripts is what the scripts of Spark must not have under a path of somebody else's: a look at the path of the
// page for the words of YARN's proxy and the history server, and paths that start at the root of the server.
var absoluteInScripts = []*regexp.Regexp{
	regexp.MustCompile(`indexOf\(["'](proxy|history)["']\)`),
	regexp.MustCompile(`(fetch|getJSON|ajax|get)\(["']/[a-z]`),
	regexp.MustCompile(`return ["']/[a-z]+["']`),
}

var absoluteInStyles = regexp.MustCompile(`url\(["']?/`)

// maxBody is how much of an answer is looked at.
const maxBody = 32 << 20

// New returns a walk through the UI at an address.
func New(client *http.Client, root *url.URL) *Walk {
	own := *client
	// A browser would follow a redirect, and the aggregator makes an error of one.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Walk{Client: &own, Root: root, Pages: map[string]bool{}, seen: map[string]bool{}}
}

// Start adds an address to start from, besides the root.
func (w *Walk) Start(at *url.URL) {
	w.add(at, "the user")
}

// Run walks until nothing new is found. It returns an error only if the context ends.
func (w *Walk) Run(ctx context.Context) error {
	w.add(w.Root, "the user")
	for len(w.queue) > 0 && ctx.Err() == nil {
		next := w.queue[0]
		w.queue = w.queue[1:]
		if w.Requests == maxRequests {
			w.problem("the walk has no end: %d addresses and %d more", w.Requests, len(w.queue))
			return nil
		}
		w.Requests++
		w.visit(ctx, next)
	}
	return ctx.Err()
}

func (w *Walk) problem(format string, args ...any) {
	w.Problems = append(w.Problems, fmt.Sprintf(format, args...))
}

// add plans a visit, once for each page: the many ways to sort and page a table are one.
func (w *Walk) add(to *url.URL, from string) {
	clean := *to
	clean.Fragment = ""
	if clean.Host != w.Root.Host || !strings.HasPrefix(clean.Path+"/", strings.TrimSuffix(w.Root.Path, "/")+"/") {
		w.problem("%s leads out of the UI, to %s", from, to)
		return
	}
	query := clean.Query()
	for name := range query {
		if strings.Contains(name, ".") {
			query.Del(name)
		}
	}
	key := clean.Path + "?" + query.Encode()
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	w.queue = append(w.queue, step{to: &clean, from: from})
}

func (w *Walk) visit(ctx context.Context, s step) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.to.String(), http.NoBody)
	if err != nil {
		w.problem("%s, from %s: %v", s.to, s.from, err)
		return
	}
	response, err := w.Client.Do(request)
	if err != nil {
		w.problem("%s, from %s: %v", s.to, s.from, err)
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		w.problem("%s, from %s, ends early: %v", s.to, s.from, err)
		return
	}
	if response.StatusCode != http.StatusOK {
		w.problem("%s, from %s: %s: %.300s", s.to, s.from, response.Status, body)
		return
	}
	for _, name := range []string{"Location", "Set-Cookie"} {
		if value := response.Header.Get(name); value != "" {
			w.problem("%s, from %s, sends %s: %s", s.to, s.from, name, value)
		}
	}
	path := strings.TrimPrefix(s.to.Path, w.Root.Path)
	w.Pages["/"+strings.TrimPrefix(path, "/")] = true
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch mediaType {
	case "text/html":
		w.page(s.to, string(body))
	case "application/json":
		if strings.HasSuffix(s.to.Path, "/api/v1/applications") {
			w.applications(s.to, body)
		}
	case "text/javascript", "application/javascript":
		for _, wrong := range absoluteInScripts {
			if found := wrong.Find(body); found != nil {
				w.problem("%s has %s: it takes its page for another, or the server for its own", s.to, found)
			}
		}
	case "text/css":
		if found := absoluteInStyles.Find(body); found != nil {
			w.problem("%s has an absolute link: %s", s.to, found)
		}
	}
}

// Has tells whether every one of some pages was found.
func (w *Walk) Has(pages ...string) bool {
	return !slices.ContainsFunc(pages, func(page string) bool { return !w.Pages[page] })
}
