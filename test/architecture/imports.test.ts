/** The import rules of the house: what makes it liveable is checked, not remembered. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { exceptions, layerOf, objection } from './import-rules.ts'
import { type Source, sources } from './sources.ts'

const house = sources(['{cli,routes,plugins,db,mail,sms,providers,schemas}/**/*.ts', '*.ts'])
const imports = house.flatMap(({ path: from, imports }) =>
  imports.flatMap(({ file: to, typeOnly }) => (to === undefined ? [] : [{ from, to, typeOnly }])),
)

suite('imports', () => {
  test('the files are found, and so are their imports', () => {
    assert.ok(house.length > 300)
    const signup = house.find(({ path }) => path === 'routes/auth/signup/index.ts')
    const files = signup?.imports.map(({ file }) => file)
    assert.ok(files?.includes('errors.ts') && files.includes('schemas/fields.ts'))
  })

  test('every file has its place in the house', () => {
    assert.deepEqual(
      house.filter(({ path }) => !layerOf(path)).map(({ path }) => path),
      [],
    )
  })

  test('they go one way', () => {
    const objections = imports.flatMap((asked) => {
      const why = objection(asked)
      return why ? [`${asked.from} imports ${asked.to}: ${why}`] : []
    })
    assert.deepEqual(objections, [])
  })

  test('every exception is still needed', () => {
    const unused = exceptions.filter(
      (exception) =>
        !imports.some(({ from, to }) => exception.from.test(from) && exception.to === to),
    )
    assert.deepEqual(unused, [])
  })

  const forbidden: [from: string, to: string, typeOnly?: boolean][] = [
    ['routes/auth/recover.ts', 'routes/auth/magiclink.ts'],
    ['routes/auth/recover.ts', 'routes/auth/magiclink.ts', true],
    ['routes/auth/recover.ts', 'routes/auth/otp/known.ts'],
    ['routes/auth/otp/index.ts', 'routes/auth/signup/email.ts'],
    ['routes/user/index.ts', 'routes/auth/index.ts'],
    ['routes/auth/recover.ts', 'plugins/mailer.ts'],
    ['routes/auth/recover.ts', 'plugins/accounts/otp/tokens.ts'],
    ['routes/auth/recover.ts', 'plugins/config/fields.ts'],
    ['routes/auth/recover.ts', 'mail/render.ts'],
    ['routes/auth/recover.ts', 'mail/render.ts', true],
    ['plugins/accounts/users/create.ts', 'plugins/accounts/sessions/open.ts'],
    ['plugins/accounts/users/create.ts', 'plugins/mailer.ts'],
    ['plugins/accounts/users/create.ts', 'plugins/define-plugin.ts'],
    ['plugins/accounts/users/create.ts', 'plugins/config/fields.ts'],
    ['plugins/accounts/users/create.ts', 'mail/render.ts'],
    ['plugins/passwords.ts', 'mail/render.ts'],
    ['plugins/passwords.ts', 'mail/render.ts', true],
    ['plugins/passwords.ts', 'routes/auth/recover.ts'],
    ['plugins/passwords.ts', 'plugins/accounts/users/create.ts'],
    ['plugins/passwords.ts', 'plugins/config/read-config.ts'],
    ['plugins/config/fields.ts', 'plugins/passwords.ts'],
    ['plugins/config/fields.ts', 'mail/kinds.ts'],
    ['app.ts', 'plugins/accounts/users/create.ts'],
    ['app.ts', 'routes/auth/recover.ts'],
    ['cli/keys.ts', 'routes/admin/keys.ts'],
    ['cli/keys.ts', 'routes/admin/keys.ts', true],
    ['cli/keys.ts', 'scripts/check.ts'],
    ['server.ts', 'test/support/server.ts'],
    ['db/users.ts', 'schemas/user.ts'],
    ['db/users.ts', 'schemas/user.ts', true],
    ['db/users.ts', 'errors.ts'],
    ['mail/render.ts', 'errors.ts'],
    ['sms/twilio.ts', 'mail/render.ts'],
    ['providers/github.ts', 'plugins/http-client.ts', true],
    ['schemas/user.ts', 'db/users.ts'],
    ['errors.ts', 'schemas/error.ts'],
  ]
  for (const [from, to, typeOnly = false] of forbidden) {
    test(`${from} may not import ${typeOnly ? 'types of ' : ''}${to}`, () => {
      assert.ok(objection({ from, to, typeOnly }))
    })
  }

  test('db/ knows the query builder and no other package', () => {
    assert.deepEqual(packagesOf(['db'], /^(?!kysely|node:)/), [])
  })

  test('only plugins, routes, commands and app.ts know Fastify', () => {
    const inner = ['db', 'mail', 'sms', 'providers', 'schemas']
    assert.deepEqual(packagesOf(inner, /^(fastify|@fastify\/)/), [])
  })
})

function packagesOf(layers: string[], pattern: RegExp): string[] {
  const found = ({ path, imports }: Source) =>
    imports
      .filter(({ file, specifier }) => file === undefined && pattern.test(specifier))
      .map(({ specifier }) => `${path} imports ${specifier}`)
  return house.filter(({ path }) => layers.includes(layerOf(path) ?? '')).flatMap(found)
}
