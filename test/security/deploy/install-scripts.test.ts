/**
 * An install script of a package can control the machine. Packages that may run one are listed in
 * `allowScripts`. By default npm also runs the others; the settings of .npmrc make it reject them.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { type Ending, endingOfSuite } from '../../support/processes/ending.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const { allowScripts }: { allowScripts: Record<string, boolean> } = JSON.parse(read('package.json'))
const { packages }: { packages: Record<string, { hasInstallScript?: boolean; dev?: boolean }> } =
  JSON.parse(read('package-lock.json'))
const withScript = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript)
const getPackageName = (path: string) => path.replace(/^.*node_modules\//, '')

suite('install script allow list', () => {
  test('lists exactly the dependencies with an install script', () => {
    const names = new Set(withScript.map(([path]) => getPackageName(path)))
    assert.deepEqual([...names].toSorted(), Object.keys(allowScripts).toSorted())
  })

  test('allows no script of a production dependency', () => {
    const names = withScript.filter(([, { dev }]) => !dev).map(([path]) => getPackageName(path))
    for (const name of names) assert.equal(allowScripts[name], false, name)
  })

  test('is enforced, and the image build runs no scripts', () => {
    assert.match(read('.npmrc'), /^strict-allow-scripts=true$/m)
    assert.match(read('Dockerfile'), /^RUN npm ci --omit=dev --ignore-scripts\b/m)
  })
})

type Listed = 'nothing' | 'another' | boolean

const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)),
)
const isKnown =
  execFileSync('npm', ['config', 'get', 'strict-allow-scripts'], {
    cwd: tmpdir(),
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim() !== 'undefined'

suite('npm install', { skip: !isKnown && 'npm before 11.16 has no such list' }, () => {
  const cases: [what: string, Listed, outcome: 'rejected' | 'installed', ran: boolean][] = [
    ['with an unlisted script', 'nothing', 'rejected', false],
    ['with the script of another package', 'another', 'rejected', false],
    ['with an allowed script', true, 'installed', true],
    ['with a denied script', false, 'installed', false],
  ]
  const ending = endingOfSuite()
  let archive: string | undefined
  for (const [what, listed, outcome, ran] of cases) {
    test(`${what}: the package is ${outcome}, and its script ${ran ? 'runs' : 'does not run'}`, (t) => {
      archive ??= packDependency(ending)
      const folder = projectWith(t, archive, listed)
      const cache = `--cache=${join(folder, 'cache')}`
      const args = ['install', '--offline', '--no-audit', '--no-fund', cache]
      const { status, stderr } = spawnSync('npm', args, {
        cwd: folder,
        env: environment,
        encoding: 'utf8',
      })
      assert.equal(status === 0 ? 'installed' : 'rejected', outcome, stderr)
      if (outcome === 'rejected') assert.match(stderr, /ESTRICTALLOWSCRIPTS/)
      assert.equal(existsSync(join(folder, 'it-ran')), ran)
    })
  }
})

/** A dependency whose script leaves a file in the project that installs it. Returns its archive. */
function packDependency(t: Ending): string {
  const folder = temporaryFolder(t, 'dependency')
  const scripts = { postinstall: 'node leave.js' }
  const dependency = { name: 'with-script', version: '1.0.0', scripts }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(dependency))
  // It runs in node_modules/with-script.
  writeFileSync(join(folder, 'leave.js'), `require('fs').writeFileSync('../../it-ran', '')`)
  execFileSync('npm', ['pack', '--silent'], { cwd: folder, env: environment, stdio: 'ignore' })
  return `file:${join(folder, 'with-script-1.0.0.tgz')}`
}

/** A project with our settings and this dependency. */
function projectWith(t: TestContext, archive: string, listed: Listed): string {
  const folder = temporaryFolder(t, 'install')
  const entries = {
    nothing: {},
    another: { other: true },
    true: { [archive]: true },
    false: { [archive]: false },
  }
  const dependencies = { 'with-script': archive }
  const allowScripts = entries[`${listed}`]
  const project = { name: 'project', version: '1.0.0', dependencies, allowScripts }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project))
  if (existsSync(join(root, '.npmrc'))) copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'))
  return folder
}
