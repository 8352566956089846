/** Import rules, import cycles and the size of folders. */
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { suite, test } from 'node:test'

import { findCycles, folderGraph, importGraph } from './cycles.ts'
import { exceptions, findPart, objection } from './import-rules.ts'
import { type Source, sources } from './sources.ts'

const product = sources([
  '{server,cli,dev,config,modules,routes,plugins,db,mail,sms,providers,schemas}/**/*.ts',
  '*.ts',
])
const frontEnd = sources(['console/**/*.{ts,tsx}'])
const everything = [...product, ...frontEnd, ...sources(['{bench,scripts}/**/*.ts'])]
const imports = [...product, ...frontEnd].flatMap(({ path: from, imports }) =>
  imports.flatMap(({ file: to, typeOnly }) => (to === undefined ? [] : [{ from, to, typeOnly }])),
)
const graph = importGraph(everything)

suite('imports', () => {
  test('finds the source files and their imports', () => {
    assert.ok(product.length > 300)
    const signup = product.find(({ path }) => path === 'routes/auth/signup/index.ts')
    const files = signup?.imports.map(({ file }) => file)
    assert.ok(files?.includes('schemas/errors.ts') && files.includes('schemas/fields.ts'))
  })

  test('assigns each file to a part with import rules', () => {
    const unknown = product.filter(({ path }) => !findPart(path)).map(({ path }) => path)
    assert.deepEqual(unknown, [])
  })

  test('follow the rules', () => {
    const objections = imports.flatMap((edge) => {
      const why = objection(edge)
      return why ? [`${edge.from} imports ${edge.to}: ${why}`] : []
    })
    assert.deepEqual(objections, [])
  })

  test('use each exception of the rules', () => {
    const unused = exceptions.filter(
      (exception) =>
        !imports.some(({ from, to }) => exception.from.test(from) && exception.to === to),
    )
    assert.deepEqual(unused, [])
  })

  test('have no cycle among files, types included', () => {
    assert.deepEqual(findCycles(graph), [])
  })

  test('have no cycle among top-level folders', () => {
    assert.deepEqual(findCycles(folderGraph(importGraph(product), 1)), [])
  })

  test('limits a folder to 30 files, except migrations', () => {
    const counts = new Map<string, number>()
    for (const { path } of [...everything, ...sources(['test/**/*.ts'])]) {
      counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
    }
    const large = [...counts].filter(([folder, count]) => count > 30 && folder !== 'db/migrations')
    assert.deepEqual(large, [])
  })

  const forbidden: [from: string, to: string, typeOnly?: boolean][] = [
    ['routes/auth/recover.ts', 'routes/auth/magiclink.ts'],
    ['routes/auth/recover.ts', 'routes/auth/magiclink.ts', true],
    ['routes/auth/recover.ts', 'routes/auth/otp/known.ts'],
    ['routes/auth/otp/index.ts', 'routes/auth/signup/email.ts'],
    ['routes/user/index.ts', 'routes/auth/index.ts'],
    ['routes/auth/recover.ts', 'plugins/messaging/mailer/index.ts'],
    ['routes/auth/recover.ts', 'modules/otp/tokens.ts'],
    ['routes/auth/recover.ts', 'modules/otp/tokens.ts', true],
    ['routes/auth/recover.ts', 'config/core/fields.ts'],
    ['routes/auth/recover.ts', 'mail/render.ts'],
    ['routes/auth/recover.ts', 'mail/render.ts', true],
    ['modules/users/sign-up/create-user.ts', 'modules/sessions/create.ts'],
    ['modules/sessions/create.ts', 'modules/users/sign-up/create-user.ts', true],
    ['modules/users/sign-up/create-user.ts', 'plugins/messaging/mailer/index.ts'],
    ['modules/users/sign-up/create-user.ts', 'plugins/define-plugin.ts'],
    ['modules/users/sign-up/create-user.ts', 'config/core/fields.ts'],
    ['modules/users/sign-up/create-user.ts', 'mail/render.ts'],
    ['plugins/security/passwords/index.ts', 'mail/render.ts'],
    ['plugins/security/passwords/index.ts', 'mail/render.ts', true],
    ['plugins/security/passwords/index.ts', 'routes/auth/recover.ts'],
    ['plugins/security/passwords/index.ts', 'plugins/messaging/mailer/index.ts', true],
    ['plugins/security/passwords/index.ts', 'modules/users/sign-up/create-user.ts'],
    ['plugins/security/passwords/index.ts', 'config/read-config.ts'],
    ['config/core/fields.ts', 'plugins/security/passwords/index.ts'],
    ['config/core/fields.ts', 'config/groups/index.ts', true],
    ['config/core/fields.ts', 'mail/kinds/index.ts'],
    ['server/app.ts', 'modules/users/sign-up/create-user.ts'],
    ['server/app.ts', 'routes/auth/recover.ts'],
    ['cli/keys/index.ts', 'routes/admin/keys.ts'],
    ['cli/keys/index.ts', 'routes/admin/keys.ts', true],
    ['cli/keys/index.ts', 'scripts/check.ts'],
    ['server.ts', 'test/support/server.ts'],
    ['db/users/users.ts', 'db/sessions/sessions.ts', true],
    ['db/users/users.ts', 'schemas/user.ts'],
    ['db/users/users.ts', 'schemas/user.ts', true],
    ['db/users/users.ts', 'schemas/errors.ts'],
    ['mail/render.ts', 'schemas/errors.ts'],
    ['sms/twilio.ts', 'mail/render.ts'],
    ['providers/github.ts', 'plugins/outgoing/http-client/index.ts', true],
    ['schemas/user.ts', 'db/users/users.ts'],
  ]
  for (const [from, to, typeOnly = false] of forbidden) {
    test(`reject the import of ${typeOnly ? 'types of ' : ''}${to} in ${from}`, () => {
      assert.ok(objection({ from, to, typeOnly }))
    })
  }

  test('db/ imports no package but the query builder', () => {
    assert.deepEqual(findPackages(['db'], /^(?!kysely|node:)/), [])
  })

  test('only plugins, routes, commands and server/ import Fastify', () => {
    const inner = ['db', 'mail', 'sms', 'providers', 'schemas']
    assert.deepEqual(findPackages(inner, /^(fastify|@fastify\/)/), [])
  })
})

function findPackages(parts: string[], pattern: RegExp): string[] {
  const found = ({ path, imports }: Source) =>
    imports
      .filter(({ file, specifier }) => file === undefined && pattern.test(specifier))
      .map(({ specifier }) => `${path} imports ${specifier}`)
  return product.filter(({ path }) => parts.includes(findPart(path) ?? '')).flatMap(found)
}
