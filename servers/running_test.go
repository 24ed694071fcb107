package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// asProgram has the test's own program be truebench-servers: what is tested is what runs.
const asProgram = "TRUEBENCH_SERVERS_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// running is a server in a process of its own.
type running struct {
	started
	process *exec.Cmd
	input   io.WriteCloser
	ended   chan error
}

func program(arguments ...string) *exec.Cmd {
	command := exec.Command(os.Args[0], arguments...)
	command.Env = append(os.Environ(), asProgram+"=1")
	command.Stderr = os.Stderr
	return command
}

func start(t *testing.T, variant string) *running {
	t.Helper()
	server := &running{process: program(strings.Fields(variant)...), ended: make(chan error, 1)}
	var err error
	if server.input, err = server.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	output, err := server.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.process.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s printed no line: %v", variant, err)
	}
	if err := json.Unmarshal(line, &server.started); err != nil {
		t.Fatalf("%s printed %q: %v", variant, line, err)
	}
	go func() { server.ended <- server.process.Wait() }()
	t.Cleanup(func() {
		_ = server.input.Close()
		select {
		case err := <-server.ended:
			if err != nil {
				t.Errorf("%s ended with %v", variant, err)
			}
		case <-time.After(20 * time.Second):
			_ = server.process.Process.Kill()
			t.Errorf("%s did not end when its input did", variant)
		}
	})
	return server
}
