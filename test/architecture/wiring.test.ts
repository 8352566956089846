/** How the house is put together: what is decorated is declared once, under the name of its file. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Source, sources } from './sources.ts'

const mostDecorators = 35
const longestMap = 120

const house = sources(['{routes,plugins}/**/*.ts', '*.ts'])
const plugins = house.filter(({ path }) => path !== 'plugins/define-plugin.ts')

suite('wiring', () => {
  const decorated = namesAfter(/\bdefinePlugin\(\{\s*name: '([\w-]+)'/g)
  const extensions = namesAfter(/\bdefineExtension\(\{\s*name: '([\w-]+)'/g)

  test(`there are fewer than ${mostDecorators} decorators`, () => {
    const byHand = namesAfter(/\.decorate\(\s*'(\w+)'/g)
    // Its values come from outside: they are given to the plugin when it is registered.
    assert.deepEqual(byHand, [{ path: 'plugins/config/index.ts', name: 'config' }])
    assert.ok(decorated.length > 20)
    assert.ok(decorated.length + byHand.length < mostDecorators, `${decorated.length + 1}`)
  })

  test('a plugin, its decorator and its file or folder have one name', () => {
    const wrong = [...decorated, ...extensions].filter(({ path, name }) => {
      const kebab = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      return ![`plugins/${kebab}.ts`, `plugins/accounts/${kebab}/index.ts`].includes(path)
    })
    assert.deepEqual(wrong, [])
  })

  test('every plugin is made by the maker of plugins', () => {
    const others = plugins.filter(({ imports }) =>
      imports.some(({ specifier }) => specifier === 'fastify-plugin'),
    )
    assert.deepEqual(others.map(named), ['plugins/config/index.ts'])
  })

  test('no list of dependencies is written by hand', () => {
    const lists = house.filter(({ text }) => /\bdependencies: \[/.test(text))
    assert.deepEqual(lists.map(named), [])
  })

  test(`app.ts has at most ${longestMap} lines`, () => {
    const map = house.find(({ path }) => path === 'app.ts')
    const lines = map?.text.split('\n').length ?? Number.POSITIVE_INFINITY
    assert.ok(lines - 1 <= longestMap, `${lines - 1}`)
  })

  test('a guard is named by the index of its group alone, so that no route can forget it', () => {
    const guard = /\brequire(User|Admin|Inviter)\b/
    const guarded = house.filter(({ path, text }) => path.startsWith('routes/') && guard.test(text))
    assert.deepEqual(guarded.map(named), ['routes/admin/index.ts', 'routes/user/index.ts'])
  })
})

function namesAfter(pattern: RegExp): { path: string; name: string }[] {
  return plugins.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(([, name = '']) => ({ path, name })),
  )
}

const named = ({ path }: Source) => path
