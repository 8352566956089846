/** How the server is put together. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sources } from './sources.ts'

suite('wiring', () => {
  test('a plugin, its decorator and its file have the same name', () => {
    const plugins = sources(['{modules,plugins}/**/*.ts']).flatMap(({ path, text }) =>
      [...text.matchAll(/\bdefine(?:Plugin\(\{\s*name: |Module\()'(\w+)'/g)].map(
        ([, name = '']) => ({
          path,
          name,
        }),
      ),
    )
    assert.ok(plugins.length > 10)
    const wrong = plugins.filter(({ path, name }) => {
      const kebab = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      const files = [`/${kebab}.ts`, `/${kebab}/index.ts`, `/${kebab}/plugin.ts`]
      return !files.some((file) => path.endsWith(file))
    })
    assert.deepEqual(wrong, [])
  })

  test('only the index of a group names its guards, so that no route can omit one', () => {
    const guard = /\brequire(User|Admin|Inviter)\b/
    const withGuard = sources(['routes/**/*.ts']).filter(({ text }) => guard.test(text))
    assert.deepEqual(
      withGuard.map(({ path }) => path),
      [
        'routes/admin/index.ts',
        'routes/oauth/index.ts',
        'routes/organizations/index.ts',
        'routes/user/index.ts',
      ],
    )
  })
})
