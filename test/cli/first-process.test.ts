/** The first process of a container hears only the signals that it listens for. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { suite, test } from 'node:test'

import { listen } from '../support/listening.ts'
import { needed } from '../support/server-process.ts'
import { wayToPrograms } from '../support/way-to-programs.ts'

const cli = new URL('../../cli.ts', import.meta.url).pathname

/** How a process is made the first one of its own numbers; which works depends on who may do what on this machine. */
const ways = [
  ['--pid', '--fork', '--kill-child'],
  ['--user', '--map-root-user', '--pid', '--fork', '--kill-child'],
]
const way = ways.find((options) => spawnSync('unshare', [...options, 'true']).status === 0)

const commands = [['migrate'], ['users', 'export'], ['keys', 'list']]

suite('a command as the first process of a container', () => {
  for (const args of commands) {
    test(`${args.join(' ')}: SIGTERM ends it while it waits for the database`, {
      timeout: 30_000,
    }, async (t) => {
      // Takes connections and says nothing.
      const database = createServer()
      t.after(() => database.close())
      const port = await listen(database)
      const env = {
        ...wayToPrograms,
        ...needed,
        DATABASE_URL: `postgres://somebody@127.0.0.1:${port}/postern`,
      }
      const connected = once(database, 'connection')
      // Where no process can be made the first, one of the usual kind is ended as before.
      const command = [process.execPath, cli, ...args]
      const [program = '', ...rest] = way ? ['unshare', ...way, ...command] : command
      const child = spawn(program, rest, { cwd: tmpdir(), env, stdio: 'ignore' })
      t.after(() => child.kill('SIGKILL'))
      const ended = once(child, 'exit')
      const [socket] = await connected
      socket.on('error', () => {})

      const signalled = performance.now()
      process.kill(way ? childOf(child.pid) : Number(child.pid), 'SIGTERM')

      const [code, signal] = await ended
      assert.deepEqual([code, signal], way ? [143, null] : [null, 'SIGTERM'])
      // Before the time for a connection is over.
      assert.ok(performance.now() - signalled < 3_000)
    })
  }
})

function childOf(pid: number | undefined): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
}
