// Package rpc calls functions in a copy of this program that runs inside a sandbox, over a pair of
// pipes.
//
// A shell command is held by the kernel because it is another process. The file tools are
// functions of this program, and a mistake in checking a path would meet nothing. So they
// ask the copy inside to read and write for them: what the profile does not show, it
// cannot open, whatever it was asked for.
//
//	server := rpc.NewServer()          // in the copy: assent assent-inner serve
//	server.Serve(os.Stdin, os.Stdout)
//
//	client, err := rpc.Start(ctx, runner, command) // in the program
//	data, err := client.ReadFile(ctx, "/home/u/proj/a.txt", 1<<20)
//
// A call is a frame with a name, arguments in JSON and bytes; so is the answer. Calls are
// answered one after another. The copy ends when its standard input does, and the kernel
// ends it with the program that started it.
package rpc
