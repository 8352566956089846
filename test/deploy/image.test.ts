/** What the container image starts, made of this checkout as its Dockerfile says and started by hand. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { imageSettings, makeImage } from '../../bench/own/image.ts'
import { stripTypes } from '../../deploy/strip-types.ts'
import { startByHand } from './started-by-hand.ts'

const root = join(import.meta.dirname, '../..')
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')

suite('the files of the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-image-'))
  const image = join(folder, 'app')
  before(() => makeImage(root, image))
  after(() => rmSync(folder, { recursive: true }))

  const evaluate = (code: string, env: Record<string, string>) =>
    execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: image,
      env,
      encoding: 'utf8',
    })

  test('serve with the settings and by the command of the Dockerfile, and end well', async (t) => {
    const [, command = '[]'] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? []
    const [, ...args] = JSON.parse(command)
    const { child, ended } = await startByHand(t, [process.execPath, ...args], {
      cwd: image,
      env: settingsIn(dockerfile),
    })
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })

  test('are loaded without what takes types out, and keep no compiled code in memory', () => {
    const code = `import { getCompileCacheDir } from 'node:module'
      await import('./app.ts')
      console.log(process.moduleLoadList.some((name) => name.includes('amaro')), getCompileCacheDir())`
    assert.equal(evaluate(code, settingsIn(dockerfile)), 'false undefined\n')
    // As it would be seen otherwise.
    assert.equal(evaluate(code, { NODE_COMPILE_CACHE: folder }).split(' ')[0], 'true')
  })

  test('have each word on its line and in its column, so that a stack leads to the source', () => {
    const names = globSync('{plugins,routes,db}/**/*.ts', { cwd: image })
    assert.ok(names.length > 100)
    for (const name of names) {
      const [stripped, source] = [image, root].map((folder) =>
        readFileSync(join(folder, name), 'utf8').split('\n'),
      )
      assert.deepEqual(stripped?.map(lengthOf), source?.map(lengthOf), name)
    }
  })

  test('are never those of a checkout', () => {
    const checkout = join(folder, 'checkout')
    mkdirSync(join(checkout, '.git'), { recursive: true })
    writeFileSync(join(checkout, 'a.ts'), 'const a: number = 1')
    assert.throws(() => stripTypes(checkout), /is a checkout/)
    assert.equal(readFileSync(join(checkout, 'a.ts'), 'utf8'), 'const a: number = 1')
  })

  test('are made as the bench makes them', () => {
    assert.match(dockerfile, /^COPY \. \.\n(#.*\n)*RUN node deploy\/strip-types\.ts \.$/m)
    const { NODE_ENV, ...settings } = settingsIn(dockerfile)
    assert.equal(NODE_ENV, 'production')
    assert.deepEqual(settings, imageSettings(image))
  })

  /** The variables it sets, for another folder. */
  function settingsIn(text: string): Record<string, string> {
    const [, pairs = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(text) ?? []
    const here = pairs.replaceAll('/app/', `${image}/`).split(/\s*\\\n\s*/)
    return Object.fromEntries(here.map((pair) => pair.split(/=(.*)/, 2)))
  }
})

const lengthOf = (line: string) => line.length
