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

package server

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	certutil "k8s.io/client-go/util/cert"
)

// TestServingCertificateIsReloaded replaces the serving certificate as the kubelet replaces the files of a Secret, by a
// symbolic link: new connections get the new one, those that are open stay, and nothing restarts.
func TestServingCertificateIsReloaded(t *testing.T) {
	dir := t.TempDir()
	first := writeCertificate(t, dir, "..first")
	require.NoError(t, os.Symlink("..first", filepath.Join(dir, "..data")))
	for _, name := range []string{"tls.crt", "tls.key"} {
		require.NoError(t, os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)))
	}
	server, err := launch(dataDir(t), "--tls-cert-file="+filepath.Join(dir, "tls.crt"), "--tls-private-key-file="+filepath.Join(dir, "tls.key"))
	require.NoError(t, err)
	address := strings.TrimPrefix(server.LoopbackClientConfig().Host, "https://")
	open, presented := connect(t, address)
	require.Equal(t, first, presented)

	second := writeCertificate(t, dir, "..second")
	require.NoError(t, os.Symlink("..second", filepath.Join(dir, "..data_tmp")))
	require.NoError(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "..first")), "which is what the server notices")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, presented := connect(t, address)
		assert.Equal(c, second, presented)
	}, startLimit, 50*time.Millisecond)

	_, err = open.Write([]byte("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	require.NoError(t, err)
	answer := make([]byte, len("HTTP/1.1 "))
	_, err = open.Read(answer)
	require.NoError(t, err)
	assert.Equal(t, "HTTP/1.1 ", string(answer), "the connection from before is served")
	require.NoError(t, server.stop())
}

// writeCertificate makes a certificate and returns its serial number.
func writeCertificate(t *testing.T, dir, folder string) string {
	t.Helper()
	certificate, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, folder, "tls.crt"), certificate, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, folder, "tls.key"), key, 0o600))
	parsed, err := certutil.ParseCertsPEM(certificate)
	require.NoError(t, err)
	return parsed[0].SerialNumber.String()
}

// connect opens a connection and tells which certificate was presented. Whoever verifies it is not asked here.
func connect(t *testing.T, address string) (*tls.Conn, string) {
	t.Helper()
	connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, ServerName: "localhost"}) //nolint:gosec // the serial number is what is compared
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	presented := connection.ConnectionState().PeerCertificates
	require.NotEmpty(t, presented)
	return connection, presented[0].SerialNumber.String()
}
