/** What the Dockerfile says of the image: its base, its user, its check, and what stays out of it. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'

import { listen } from '../support/listening.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const dockerfile = read('Dockerfile')

suite('the image', () => {
  test('runs on our version of Node, and not as root', () => {
    const [major] = JSON.parse(read('package.json')).devDependencies.node.split('.')
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    assert.deepEqual(new Set(bases), new Set([`node:${major}-slim`]))
    const [, user = 'root'] = [...dockerfile.matchAll(/^USER (\S+)$/gm)].at(-1) ?? []
    assert.notEqual(user, 'root')
  })

  test('its check says no where nothing listens', () => {
    const [program, , script] = check()
    assert.equal(program, 'node')
    const env = { PATH: process.env.PATH, PORT: '1' }
    assert.throws(() => execFileSync(process.execPath, ['-e', script], { env }))
  })

  for (const name of ['PORT', 'AUTH_API_PORT', 'GOTRUE_API_PORT']) {
    test(`its check asks where the server listens by ${name}`, async (t) => {
      const server = createServer((_request, response) => response.end())
      t.after(() => void server.close())
      const env = { PATH: process.env.PATH, [name]: String(await listen(server)) }
      await promisify(execFile)(process.execPath, ['-e', check()[2]], { env })
    })
  }

  test('holds neither secrets nor data of the machine it is built on', () => {
    const ignored = read('.dockerignore').split('\n')
    for (const path of ['.env', '.data', '.git', 'node_modules']) assert.ok(ignored.includes(path))
  })
})

function check(): [program: string, flag: string, script: string] {
  const [, command = ''] = /HEALTHCHECK[^[]*(\[.*\])$/m.exec(dockerfile) ?? []
  return JSON.parse(command)
}
