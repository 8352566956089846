/** The first process of a container receives only signals it has handlers for. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'

import { wayToPrograms } from '../support/processes/child-environment.ts'
import { listen } from '../support/processes/listening.ts'
import { needed } from '../support/processes/server-process.ts'

const cli = new URL('../../cli.ts', import.meta.url).pathname

/** Ways to run a process as the first one of a PID namespace; which of them works depends on privileges. */
const ways = [
  ['--pid', '--fork', '--kill-child'],
  ['--user', '--map-root-user', '--pid', '--fork', '--kill-child'],
]
const way = ways.find((options) => spawnSync('unshare', [...options, 'true']).status === 0)

const commands = [['migrate'], ['users', 'export'], ['keys', 'list']]

suite('command as first process of a container', () => {
  for (const args of commands) {
    test(`${args.join(' ')}: SIGTERM ends it while it waits for the database`, {
      timeout: 30_000,
    }, async (t) => {
      // Accepts connections and sends nothing.
      const database = createServer()
      t.after(() => database.close())
      const port = await listen(database)
      const env = {
        ...wayToPrograms,
        ...needed,
        DATABASE_URL: `postgres://someone@127.0.0.1:${port}/postern`,
      }
      const connected = once(database, 'connection')
      // Without a PID namespace, an ordinary process is tested.
      const command = [process.execPath, cli, ...args]
      const [program = '', ...rest] = way ? ['unshare', ...way, ...command] : command
      const child = spawn(program, rest, {
        cwd: tmpdir(),
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      t.after(() => child.kill('SIGKILL'))
      const ended = once(child, 'exit')
      const written = Promise.all([text(child.stdout), text(child.stderr)])
      const [socket] = await connected
      socket.on('error', () => {})

      process.kill(way ? readChildPid(child.pid) : Number(child.pid), 'SIGTERM')

      const [code, signal] = await ended
      assert.deepEqual([code, signal], way ? [143, null] : [null, 'SIGTERM'])
      // Before the time for a connection is over, which would be reported.
      assert.doesNotMatch((await written).join(), /timeout|does not respond/)
    })
  }
})

function readChildPid(pid: number | undefined): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
}
