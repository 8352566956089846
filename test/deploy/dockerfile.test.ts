/** What the Dockerfile says of the image: its base, its user, its check, and what stays out of it. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

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
    const [, command = ''] = /HEALTHCHECK[^[]*(\[.*\])$/m.exec(dockerfile) ?? []
    const [program, , script] = JSON.parse(command)
    assert.equal(program, 'node')
    const env = { PATH: process.env.PATH, PORT: '1' }
    assert.throws(() => execFileSync(process.execPath, ['-e', script], { env }))
  })

  test('holds neither secrets nor data of the machine it is built on', () => {
    const ignored = read('.dockerignore').split('\n')
    for (const path of ['.env', '.data', '.git', 'node_modules']) assert.ok(ignored.includes(path))
  })
})
