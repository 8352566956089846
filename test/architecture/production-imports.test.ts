/** A server runs on what `npm ci --omit=dev` installs. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
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
    'admin',
    'clients',
    'mail',
    'users',
    'providers',
    'sso',
    'scim',
    'mail-preview',
    'config-docs',
    'openapi',
    'takeover',
    'doctor',
    'backup',
    'restore',
  ].map(commandFile),
]

/** A command is a file, or a folder with an index. */
function commandFile(name: string): string {
  const file = `cli/${name}.ts`
  return existsSync(join(root, file)) ? file : `cli/${name}/index.ts`
}

/** Imported dynamically in development only. */
const onlyInDevelopment = [
  'routes/console/site/bundle.ts: esbuild',
  'routes/console/site/files.ts: esbuild',
  'routes/dev/docs.ts: @fastify/swagger-ui',
  'plugins/outgoing/oauth-providers/dev-oidc/openid-provider.ts: oidc-provider',
]

interface Found {
  file: string
  specifier: string
  dynamic: boolean
}

suite('production imports', () => {
  const reached = runJourney(entries)
  const packages = reached.flatMap(readImports).filter(({ specifier }) => isPackage(specifier))
  const missing = packages.filter(({ specifier }) => !(getPackageName(specifier) in dependencies))

  test('reach the whole server', () => {
    for (const file of [
      'server/app.ts',
      'routes/auth/signup/index.ts',
      'modules/sessions/index.ts',
      'db/users/users.ts',
    ]) {
      assert.ok(reached.includes(file), file)
    }
  })

  test('include no development dependency', () => {
    const names = missing.map(({ file, specifier }) => `${file}: ${specifier}`)
    assert.deepEqual(new Set(names), new Set(onlyInDevelopment))
  })

  test('load development files dynamically only', () => {
    assert.deepEqual(
      missing.filter(({ dynamic }) => !dynamic),
      [],
    )
  })

  test('include each command except development ones', () => {
    const commands = globSync('cli/{*.ts,*/index.ts}', { cwd: root }).filter(
      (file) => !entries.includes(file),
    )
    const own = commands.filter((file) => !reached.includes(file))
    assert.deepEqual(own, ['cli/dev/index.ts'])
  })
})

/** The transitive imports of these files. */
function runJourney(start: string[]): string[] {
  const found = new Set<string>()
  const visit = (file: string) => {
    if (found.has(file)) return
    found.add(file)
    for (const { specifier } of readImports(file)) {
      if (specifier.startsWith('.')) visit(normalize(join(dirname(file), specifier)))
    }
  }
  start.forEach(visit)
  return [...found]
}

/** Those that are left when types are stripped. */
function readImports(file: string): Found[] {
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

function getPackageName(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}
