/** A server runs on what `npm ci --omit=dev` installs. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { suite, test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)

/** What production starts; commands for development are left out. */
const entries = [
  ...['server.ts', 'deploy/rest-keys.ts'],
  ...[
    'migrate',
    'keys',
    'token',
    'mail',
    'users',
    'providers',
    'mail-preview',
    'config-docs',
    'openapi',
    'takeover',
    'doctor',
    'backup',
    'restore',
  ].map((name) => `cli/${name}.ts`),
]

/** Loaded when it is asked for, and asked for in dev mode alone. */
const onlyInDevelopment = [
  'routes/dev/docs.ts: @fastify/swagger-ui',
  'routes/dev/guide/render.ts: marked',
  'plugins/oauth-providers/dev-oidc/openid-provider.ts: oidc-provider',
]

interface Found {
  file: string
  specifier: string
  dynamic: boolean
}

suite('production', () => {
  const reached = walk(entries)
  const packages = reached.flatMap(importsOf).filter(({ specifier }) => isPackage(specifier))
  const missing = packages.filter(({ specifier }) => !(packageOf(specifier) in dependencies))

  test('reaches the whole house', () => {
    for (const file of [
      'app.ts',
      'routes/auth/signup/index.ts',
      'plugins/accounts/sessions/index.ts',
      'db/users.ts',
    ]) {
      assert.ok(reached.includes(file), file)
    }
  })

  test('imports nothing that only development installs', () => {
    const names = missing.map(({ file, specifier }) => `${file}: ${specifier}`)
    assert.deepEqual(new Set(names), new Set(onlyInDevelopment))
  })

  test('loads what is for development only when it is asked for', () => {
    assert.deepEqual(
      missing.filter(({ dynamic }) => !dynamic),
      [],
    )
  })

  test('every command is either here or for development', () => {
    const commands = globSync('cli/*.ts', { cwd: root }).filter((file) => !entries.includes(file))
    const own = commands.filter((file) => !reached.includes(file))
    assert.deepEqual(own, ['cli/dev.ts'])
  })
})

/** The files that these import, and those that they import, and so on. */
function walk(start: string[]): string[] {
  const found = new Set<string>()
  const visit = (file: string) => {
    if (found.has(file)) return
    found.add(file)
    for (const { specifier } of importsOf(file)) {
      if (specifier.startsWith('.')) visit(normalize(join(dirname(file), specifier)))
    }
  }
  start.forEach(visit)
  return [...found]
}

/** Those that are left when types are stripped. */
function importsOf(file: string): Found[] {
  const text = readFileSync(join(root, file), 'utf8')
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const fixed = code.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^'";]*?\bfrom\s+)?'([^']+)'/gm)
  const late = code.matchAll(/\bimport\('([^']+)'\)/g)
  return [
    ...[...fixed].map(([, specifier = '']) => ({ file, specifier, dynamic: false })),
    ...[...late].map(([, specifier = '']) => ({ file, specifier, dynamic: true })),
  ]
}

function isPackage(specifier: string): boolean {
  return !specifier.startsWith('.') && !isBuiltin(specifier)
}

function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}
