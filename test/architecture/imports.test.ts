/** The import rules of the house: what makes it liveable is checked, not remembered. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { suite, test } from 'node:test'

const root = join(import.meta.dirname, '../..')
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
export function objection({ from, to, typeOnly }: Import): string | undefined {
  const [source, target] = [layerOf(from), layerOf(to)]
  if (!source || !target) return undefined
  if (source === 'routes') return routeObjection(from, to, typeOnly)
  if (source === 'plugins/accounts' && target === 'plugins') {
    return typeOnly ? undefined : 'accounts use other plugins through the instance'
  }
  if (baseOf(source) === baseOf(target)) return undefined
  const owner = ownedBy[target]
  if (owner && !typeOnly && !owner.test(from)) return `only ${owner.source} imports ${target}`
  const isAllowed = (mayImport[source] ?? []).includes(target)
  return isAllowed || (typeOnly && isTypeAllowed(source, target))
    ? undefined
    : `${source} does not import ${target}`
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

/** A plugin may name the types of a layer it gets values of. */
function isTypeAllowed(source: string, target: string): boolean {
  return baseOf(source) === 'plugins' && layers.includes(target)
}

function layerOf(path: string): string | undefined {
  if (path.startsWith('plugins/accounts/')) return 'plugins/accounts'
  const [first = ''] = path.split('/')
  return layers.includes(first) ? first : undefined
}

const baseOf = (layer: string) => layer.split('/')[0]

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const statements = text.matchAll(/^(?:import|export)\b([^';]*?)\bfrom '(\.[^']+)'/gms)
  return [...statements].map(([, clause = '', path = '']) => ({
    from: file,
    to: normalize(join(dirname(file), path)),
    typeOnly: isTypeOnly(clause),
  }))
}

function isTypeOnly(clause: string): boolean {
  if (/^\s*type\b/.test(clause)) return true
  const names = /\{([^}]*)\}/s.exec(clause)?.[1]?.split(',') ?? ['value']
  return names.filter((name) => name.trim() !== '').every((name) => /^\s*type\s/.test(name))
}

/** Without comments, where such words are only words. */
function codeOf(file: string): string {
  const text = readFileSync(join(root, file), 'utf8')
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
}

function sources(patterns: string[]): string[] {
  return globSync(patterns, { cwd: root }).map((file) => relative(root, join(root, file)))
}

const house = sources(['{routes,plugins,db,mail,sms,providers,schemas}/**/*.ts', 'errors.ts'])
const everything = [...house, ...sources(['{cli,bench,scripts}/**/*.ts', '*.ts'])]

suite('the house', () => {
  test('imports go one way', () => {
    const objections = house
      .flatMap(importsOf)
      .map((found) => ({ ...found, why: objection(found) }))
      .filter(({ why }) => why !== undefined)
      .map(({ from, to, why }) => `${from} imports ${to}: ${why}`)
    assert.deepEqual(objections, [])
  })

  const forbidden: [from: string, to: string][] = [
    ['routes/otp.ts', 'routes/signup.ts'],
    ['routes/otp.ts', 'plugins/mailer.ts'],
    ['routes/otp.ts', 'mail/render.ts'],
    ['plugins/accounts/users.ts', 'plugins/mailer.ts'],
    ['plugins/accounts/users.ts', 'mail/render.ts'],
    ['plugins/audit.ts', 'mail/render.ts'],
    ['plugins/audit.ts', 'routes/otp.ts'],
    ['db/users.ts', 'schemas/user.ts'],
    ['mail/render.ts', 'errors.ts'],
    ['sms/twilio.ts', 'mail/render.ts'],
    ['schemas/user.ts', 'db/users.ts'],
  ]
  for (const [from, to] of forbidden) {
    test(`${from} may not import ${to}`, () => {
      assert.ok(objection({ from, to, typeOnly: false }))
    })
  }

  test('the environment is read where the process starts, and nowhere else', () => {
    const readers = house.filter((file) =>
      /process\.env\b/.test(readFileSync(join(root, file), 'utf8')),
    )
    assert.deepEqual(readers, [])
  })

  test('no cast and no directive hides a doubt', () => {
    const pattern = /: any\b|<any>|\bas any\b|as unknown as|@ts-ignore|@ts-expect-error/
    const files = everything.filter((file) => pattern.test(codeOf(file)))
    assert.deepEqual(files, [])
  })

  test('a file is one idea: none is longer than 250 lines', () => {
    const isCatalogue = (file: string) => file === 'errors.ts' || file.startsWith('schemas/config/')
    const long = everything
      .filter((file) => !isCatalogue(file))
      .map((file) => [file, readFileSync(join(root, file), 'utf8').split('\n').length] as const)
      .filter(([, lines]) => lines > 250)
    assert.deepEqual(long, [])
  })
})
