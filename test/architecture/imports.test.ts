/** The import rules of the house: what makes it liveable is checked, not remembered. */
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { suite, test } from 'node:test'

import { type Source, sources } from './sources.ts'

const layers = ['routes', 'plugins', 'db', 'mail', 'sms', 'providers', 'schemas', 'errors.ts']

/** What each layer may import at run time besides packages and itself. */
const mayImport: Record<string, string[]> = {
  routes: ['db', 'schemas', 'errors.ts'],
  'plugins/accounts': ['db', 'schemas', 'errors.ts'],
  plugins: ['db', 'mail', 'sms', 'providers', 'schemas', 'errors.ts'],
  db: [],
  mail: [],
  sms: [],
  providers: [],
  // What a field refuses, it refuses by the one catalogue, which itself imports nothing.
  schemas: ['errors.ts'],
  'errors.ts': [],
}

/** Only the plugin of the same concern reaches into these. */
const ownedBy: Record<string, RegExp> = {
  mail: /^plugins\/mailer(\.ts|\/)/,
  sms: /^plugins\/sms(\.ts|\/)/,
  providers: /^plugins\/(oauth-providers|dev-oidc)(\.ts|\/)/,
}

interface Import {
  from: string
  to: string
  typeOnly: boolean
}

/** Why an import is forbidden; undefined when it is allowed. */
function objection({ from, to, typeOnly }: Import): string | undefined {
  const [source, target] = [layerOf(from), layerOf(to)]
  if (!source || !target) return undefined
  if (source === 'routes') return routeObjection(from, to, typeOnly)
  if (source === 'plugins/accounts' && target === 'plugins') {
    return typeOnly ? undefined : 'accounts use other plugins through the instance'
  }
  if (baseOf(source) === baseOf(target)) return undefined
  const owner = ownedBy[target]
  if (owner && !typeOnly && !owner.test(from)) return `only ${owner.source} imports ${target}`
  // A plugin may name the types of a layer it gets values of.
  const isTypeOfLayer = typeOnly && baseOf(source) === 'plugins' && target !== 'routes'
  const isAllowed = isTypeOfLayer || mayImport[source]?.includes(target)
  return isAllowed ? undefined : `${source} does not import ${target}`
}

function routeObjection(from: string, to: string, typeOnly: boolean): string | undefined {
  const target = layerOf(to) ?? ''
  if (target === 'routes') {
    return isWithinFolder(from, to) ? undefined : 'a route never imports a route'
  }
  if (target.startsWith('plugins')) {
    return typeOnly ? undefined : 'routes use plugins through the instance'
  }
  return mayImport.routes?.includes(target) ? undefined : `routes do not import ${target}`
}

/** Files of one folder below routes/ belong together: a grant, a form of the same endpoint. */
function isWithinFolder(from: string, to: string): boolean {
  return dirname(from) !== 'routes' && dirname(to).startsWith(dirname(from))
}

function layerOf(path: string): string | undefined {
  if (path.startsWith('plugins/accounts/')) return 'plugins/accounts'
  const [first = ''] = path.split('/')
  return layers.includes(first) ? first : undefined
}

const baseOf = (layer: string) => layer.split('/')[0]

const house = sources(['{routes,plugins,db,mail,sms,providers,schemas}/**/*.ts', 'errors.ts'])

suite('imports', () => {
  test('the files are found, and so are their imports', () => {
    assert.ok(house.length > 200)
    const signup = house.find(({ path }) => path === 'routes/signup.ts')
    const files = signup?.imports.map(({ file }) => file)
    assert.ok(files?.includes('errors.ts') && files.includes('schemas/fields.ts'))
  })

  test('they go one way', () => {
    const objections = house.flatMap(({ path: from, imports }) =>
      imports.flatMap(({ file: to, typeOnly }) => {
        const why = to && objection({ from, to, typeOnly })
        return why ? [`${from} imports ${to}: ${why}`] : []
      }),
    )
    assert.deepEqual(objections, [])
  })

  const forbidden: [from: string, to: string, typeOnly?: boolean][] = [
    ['routes/otp.ts', 'routes/signup.ts'],
    ['routes/otp.ts', 'routes/signup.ts', true],
    ['routes/otp.ts', 'plugins/mailer.ts'],
    ['routes/otp.ts', 'mail/render.ts'],
    ['plugins/accounts/users.ts', 'plugins/mailer.ts'],
    ['plugins/accounts/users.ts', 'mail/render.ts'],
    ['plugins/audit.ts', 'mail/render.ts'],
    ['plugins/audit.ts', 'routes/otp.ts'],
    ['db/users.ts', 'schemas/user.ts'],
    ['db/users.ts', 'schemas/user.ts', true],
    ['mail/render.ts', 'errors.ts'],
    ['sms/twilio.ts', 'mail/render.ts'],
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

  test('only plugins, routes and app.ts know Fastify', () => {
    const inner = ['db', 'mail', 'sms', 'providers', 'schemas']
    assert.deepEqual(packagesOf(inner, /^(fastify|@fastify\/)/), [])
  })
})

function packagesOf(folders: string[], pattern: RegExp): string[] {
  const found = ({ path, imports }: Source) =>
    imports
      .filter(({ file, specifier }) => file === undefined && pattern.test(specifier))
      .map(({ specifier }) => `${path} imports ${specifier}`)
  return house.filter(({ path }) => folders.includes(layerOf(path) ?? '')).flatMap(found)
}
