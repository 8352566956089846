/** Parts of `npm run release` and `npm run check`; the artifacts themselves: test/services/release. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'

import { ignoredBy } from '../../scripts/release/ignored-by.ts'
import { licenceProblems } from '../../scripts/release/licences.ts'
import { type Lock, type LockedPackage, requiredPackages } from '../../scripts/release/lock-file.ts'
import { misplaced } from '../../scripts/release/misplaced.ts'
import { portablePackages, toJavaScript } from '../../scripts/release/npm-package.ts'
import { documentationFiles, programFiles } from '../../scripts/release/program-files.ts'

const root = join(import.meta.dirname, '../..')

function createLock(packages: Record<string, LockedPackage>): Lock {
  return { name: 'a', version: '1.0.0', lockfileVersion: 3, requires: true, packages }
}

suite('licence check', () => {
  const problems = (license: string | undefined, dev = false) =>
    licenceProblems(createLock({ '': {}, 'node_modules/x': { ...(license && { license }), dev } }))

  test('accepts permissive licences and a choice that contains one', () => {
    for (const license of ['MIT', 'Apache-2.0', '(MIT OR GPL-3.0-only)']) {
      assert.deepEqual(problems(license), [], license)
    }
  })

  test('rejects copyleft, unknown and missing licences', () => {
    for (const license of ['GPL-3.0-only', 'AGPL-3.0', 'SEE LICENSE IN x', undefined]) {
      assert.match(problems(license)[0] ?? '', /^node_modules\/x has the licence/)
    }
  })

  test('accepts MPL-2.0 for development packages only', () => {
    assert.deepEqual(problems('MPL-2.0', true), [])
    assert.equal(problems('MPL-2.0').length, 1)
  })
})

suite('packages in the npm package', () => {
  const lock = createLock({
    '': {},
    'node_modules/a': { dependencies: { b: '^2.0.0' } },
    'node_modules/a/node_modules/b': { dependencies: { c: '^1.0.0' } },
    'node_modules/b': {},
    'node_modules/c': {
      optionalDependencies: { missing: '^1.0.0' },
      peerDependencies: { e: '^1.0.0', f: '^1.0.0' },
      peerDependenciesMeta: { f: { optional: true } },
    },
    'node_modules/d': { dev: true, optionalDependencies: { 'd-linux': '^1.0.0' } },
    'node_modules/d-linux': { cpu: ['x64'], optional: true },
    'node_modules/e': {},
    'node_modules/f': { dev: true },
  })
  const required = requiredPackages(lock, { dependencies: { a: '1.0.0', d: '1.0.0' } })

  test('are the required dependencies, from the nearest folder and without optional peers', () => {
    assert.deepEqual([...required.keys()].toSorted(), [
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/c',
      'node_modules/d',
      'node_modules/d-linux',
      'node_modules/e',
    ])
  })

  test('are bundled unless they are platform-specific', () => {
    assert.deepEqual(portablePackages(required).toSorted(), [
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/c',
      'node_modules/e',
    ])
  })
})

suite('JavaScript of the npm package', () => {
  test('imports JavaScript, in workers as well, on the same line and column', () => {
    const source = `import type { A } from './a.ts'
import { b } from '../b.ts'
const c: number = b
void import('./c.ts')
new Worker(new URL('./d.ts', import.meta.url))
const text = 'file.ts'
`
    const script = toJavaScript(source)
    assert.match(script, /from '\.\.\/b\.js'/)
    assert.match(script, /import\('\.\/c\.js'\)/)
    assert.match(script, /new URL\('\.\/d\.js', /)
    assert.match(script, /'file\.ts'/)
    assert.doesNotMatch(script, /import type|: number/)
    const lengths = (text: string) => text.split('\n').map(({ length }) => length)
    assert.deepEqual(lengths(script), lengths(source))
  })
})

suite('image content', () => {
  test('contains the program and no test, documentation or configuration of development', () => {
    const files = programFiles(root)
    for (const file of ['cli.ts', 'server.ts', 'package-lock.json', 'LICENSE', '.npmrc']) {
      assert.ok(files.includes(file), file)
    }
    assert.deepEqual(files.filter(misplaced), [])
  })

  test('is reported when it includes a test, a page or a secret', () => {
    for (const file of ['test/a.ts', 'modules/a.test.ts', 'docs/a.md', '.env', 'deploy/tls.key']) {
      assert.ok(misplaced(file), file)
    }
  })

  test('excludes the content of an excluded folder, except what a later pattern includes', () => {
    const isIgnored = ignoredBy('# comment\nscripts/*\n!scripts/a.ts\nexports\n')
    assert.ok(isIgnored('scripts/release/a.ts'))
    assert.ok(isIgnored('exports/users.json'))
    assert.ok(!isIgnored('scripts/a.ts'))
    assert.ok(!isIgnored('other/exports.ts'))
  })
})

suite('archive for plain machines', () => {
  const files = [...programFiles(root), ...documentationFiles(root)]
  const folders = new Set(files.flatMap((file) => parents(file)))

  test('contains every file that its documentation links', () => {
    const broken = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) => readLinks(file).map((link) => join(dirname(file), link)))
      .filter((target) => !files.includes(target) && !folders.has(target.replace(/\/$/, '')))
    assert.deepEqual(broken, [])
  })

  test('contains what Documentation= of its unit names', () => {
    const unit = readFileSync(join(root, 'deploy/systemd/postern.service'), 'utf8')
    const named = [...unit.matchAll(/file:\/\/\/opt\/postern\/(\S+)/g)].map(([, file = '']) => file)
    assert.ok(named.length > 0)
    assert.deepEqual(
      named.filter((file) => !files.includes(file)),
      [],
    )
  })
})

/** Folders of a file, from its own to the root. */
function parents(file: string): string[] {
  const folder = dirname(file)
  return folder === '.' ? [] : [folder, ...parents(folder)]
}

/** Relative links, without their headings. */
function readLinks(file: string): string[] {
  const links = readFileSync(join(root, file), 'utf8').matchAll(/\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)
  return [...links].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link))
}

suite('npm run check', () => {
  const check = readFileSync(join(root, 'scripts/check.ts'), 'utf8')

  for (const script of ['licences', 'audit', 'image-content']) {
    test(`runs scripts/${script}.ts`, () => assert.ok(check.includes(`'scripts/${script}.ts'`)))
  }
})
