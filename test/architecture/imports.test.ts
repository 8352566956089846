/** The import rules of the house: docs/architecture.md says why. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Import, type Source, sources } from './sources.ts'

const layers = ['db', 'mail', 'sms', 'providers', 'schemas'] as const

/** What a file of each layer may import of ours. */
const allowed: Record<string, (file: string) => boolean> = {
  routes: (file) => isIn(file, ['db', 'schemas']) || file === 'errors.ts',
  plugins: (file) =>
    isIn(file, ['plugins', 'db', 'mail', 'sms', 'providers', 'schemas']) || file === 'errors.ts',
  db: (file) => isIn(file, ['db']),
  mail: (file) => isIn(file, ['mail']),
  sms: (file) => isIn(file, ['sms']),
  providers: (file) => isIn(file, ['providers']),
  // What a field refuses, it refuses by the one catalogue, which itself imports nothing.
  schemas: (file) => isIn(file, ['schemas']) || file === 'errors.ts',
}

/** Plugins that may import each of the outside layers: those of the same concern. */
const concerns: Record<string, RegExp> = {
  mail: /^plugins\/(mailer|dev-inbox|accounts\/letters)\b/,
  sms: /^plugins\/(sms|phones)\b/,
  providers: /^plugins\/(oauth-providers|dev-oidc|accounts\/(external|identit))/,
}

const source = sources(['{routes,plugins,db,mail,sms,providers,schemas}/**/*.ts', 'errors.ts'])

suite('imports', () => {
  test('the files are found, and so are their imports', () => {
    assert.ok(source.length > 200)
    const signup = source.find(({ path }) => path === 'routes/signup.ts')
    const specifiers = signup?.imports.map(({ file }) => file)
    assert.ok(specifiers?.includes('errors.ts') && specifiers.includes('schemas/fields.ts'))
  })

  for (const layer of ['routes', ...layers, 'plugins']) {
    test(`${layer}/ imports only what it may`, () => {
      const wrong = ofLayer(layer).flatMap((file) =>
        file.imports.filter((imported) => !mayImport(layer, file, imported)).map(told(file)),
      )
      assert.deepEqual(wrong, [])
    })
  }

  test('errors.ts imports nothing of ours', () => {
    const errors = source.find(({ path }) => path === 'errors.ts')
    assert.deepEqual(
      errors?.imports.filter(({ file }) => file !== undefined),
      [],
    )
  })

  for (const [layer, concern] of Object.entries(concerns)) {
    test(`${layer}/ is imported by the plugins of that concern alone`, () => {
      const wrong = ofLayer('plugins')
        .filter(({ path }) => !concern.test(path))
        .flatMap((file) =>
          file.imports.filter((imported) => isIn(imported.file ?? '', [layer])).map(told(file)),
        )
      assert.deepEqual(wrong, [])
    })
  }

  test('db/ knows the query builder and no other package', () => {
    const wrong = ofLayer('db').flatMap((file) =>
      file.imports
        .filter(
          ({ specifier, file: own }) => own === undefined && !/^(kysely|node:)/.test(specifier),
        )
        .map(told(file)),
    )
    assert.deepEqual(wrong, [])
  })

  test('only plugins, routes and app.ts know Fastify', () => {
    const wrong = [...layers]
      .flatMap(ofLayer)
      .flatMap((file) =>
        file.imports
          .filter(({ specifier }) => /^(fastify|@fastify\/)/.test(specifier))
          .map(told(file)),
      )
    assert.deepEqual(wrong, [])
  })
})

function ofLayer(layer: string): Source[] {
  return source.filter(({ path }) => isIn(path, [layer]))
}

function mayImport(layer: string, { path }: Source, { file, typeOnly }: Import): boolean {
  if (file === undefined || allowed[layer]?.(file)) return true
  if (layer !== 'routes') return false
  // Types of plugins say what comes from the instance; a folder of routes is one route in parts.
  return (typeOnly && isIn(file, ['plugins'])) || isSameRoute(path, file)
}

function isSameRoute(path: string, file: string): boolean {
  const [, folder = ''] = /^routes\/(.+)\//.exec(path) ?? []
  return folder !== '' && folder !== 'admin' && file.startsWith(`routes/${folder}/`)
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${folder}/`))
}

function told({ path }: Source) {
  return ({ specifier }: Import) => `${path} imports ${specifier}`
}
