/** How the server is put together: what is decorated is declared once, under the name of its file. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Source, sources } from './sources.ts'

const maxDecorators = 40
const maxAppLines = 130

const deps = sources(['{routes,modules,plugins,server}/**/*.ts', '*.ts'])
const plugins = deps.filter(({ path }) => path !== 'plugins/define-plugin.ts')

suite('wiring', () => {
  const decorated = namesAfter(/\bdefinePlugin\(\{\s*name: '([\w-]+)'/g)
  const extensions = namesAfter(/\bdefineExtension\(\{\s*name: '([\w-]+)'/g)

  test(`limits decorators to ${maxDecorators}`, () => {
    const byHand = namesAfter(/\.decorate\(\s*'(\w+)'/g)
    // Its value comes from outside and is passed at registration.
    assert.deepEqual(byHand, [{ path: 'plugins/config.ts', name: 'examine' }])
    assert.ok(decorated.length > 20)
    // One more is config, which @fastify/env decorates.
    assert.ok(decorated.length + 1 <= maxDecorators, `${decorated.length + 1}`)
  })

  test('gives a plugin, its decorator and its file the same name', () => {
    const wrong = [...decorated, ...extensions].filter(({ path, name }) => {
      const kebab = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      const files = [`/${kebab}.ts`, `/${kebab}/index.ts`, `/${kebab}/plugin.ts`]
      return !files.some((file) => path.endsWith(file))
    })
    assert.deepEqual(wrong, [])
  })

  test('creates each plugin by the plugin factory', () => {
    const others = plugins.filter(({ imports }) =>
      imports.some(({ specifier }) => specifier === 'fastify-plugin'),
    )
    assert.deepEqual(others.map(named), ['plugins/config.ts'])
  })

  test('derives plugin dependencies instead of listing them', () => {
    const lists = deps.filter(({ text }) => /\bdependencies: \[/.test(text))
    assert.deepEqual(lists.map(named), [])
  })

  test(`limits server/app.ts to ${maxAppLines} lines`, () => {
    const map = deps.find(({ path }) => path === 'server/app.ts')
    const lines = map?.text.split('\n').length ?? Number.POSITIVE_INFINITY
    assert.ok(lines - 1 <= maxAppLines, `${lines - 1}`)
  })

  test('names guards in group indexes only, so that no route can omit one', () => {
    const guard = /\brequire(User|Admin|Inviter)\b/
    const withGuard = deps.filter(
      ({ path, text }) => path.startsWith('routes/') && guard.test(text),
    )
    assert.deepEqual(withGuard.map(named), [
      'routes/admin/index.ts',
      'routes/oauth/index.ts',
      'routes/organizations/index.ts',
      'routes/user/index.ts',
    ])
  })
})

function namesAfter(pattern: RegExp): { path: string; name: string }[] {
  return plugins.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(([, name = '']) => ({ path, name })),
  )
}

const named = ({ path }: Source) => path
