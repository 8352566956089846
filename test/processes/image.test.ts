/** The programs of the container image, built from this checkout as in the Dockerfile and started manually. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { imageSettings, makeImage } from '../../bench/own/image.ts'
import { stripTypes } from '../../deploy/strip-types.ts'
import { startByHand } from '../deploy/started-by-hand.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'

const root = join(import.meta.dirname, '../..')
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')

suite('image files', () => {
  const folder = temporaryFolder({ after }, 'image')
  const image = join(folder, 'app')
  before(() => makeImage(root, image))

  let output: string[] | undefined
  /** The usage of each command, printed by one process, and what that process has loaded besides. */
  const loadedCommands = () => {
    const names = JSON.stringify(commands.map(([, line]) => line.split(' ').at(-1)))
    const code = `for (const name of ${names}) {
      process.argv.splice(1, Infinity, 'cli.ts', name, '--help')
      await import('./cli.ts?' + name + '.ts')
      console.log('\\0')
    }
    ${reportTypes}`
    output ??= evaluate(code, settingsIn(dockerfile)).split('\0\n')
    return output
  }

  const evaluate = (code: string, env: Record<string, string>) =>
    execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: image,
      env,
      encoding: 'utf8',
    })

  test('serve with the settings and the command of the Dockerfile and exit with 0', async (t) => {
    const [, command = '[]'] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? []
    const [, ...args] = JSON.parse(command)
    const { child, ended } = await startByHand(t, [process.execPath, ...args], {
      cwd: image,
      env: settingsIn(dockerfile),
    })
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })

  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const forDevelopment = ['dev', 'openapi', 'config:docs']
  const commands = Object.entries(scripts).filter(
    ([name, line]) => line.includes(' cli.ts ') && !forDevelopment.includes(name),
  )

  for (const [index, [name, line]] of commands.entries()) {
    test(`run npm run ${name}`, () => {
      assert.match(line, /^node --require=\.\/scripts\/require-node\.cjs (--\S+ )?cli\.ts [\w-]+$/)
      assert.match(loadedCommands()[index] ?? '', /^npm (run|start)/)
    })
  }

  test('run a command called by npm', () => {
    const help = spawnSync('npm', ['run', '--silent', 'keys', '--', '--help'], {
      cwd: image,
      env: { PATH: process.env.PATH, ...settingsIn(dockerfile), HOME: '/nonexistent' },
      encoding: 'utf8',
    })
    assert.equal(help.status, 0, help.stderr)
    assert.equal(help.stdout, loadedCommands()[commands.findIndex(([name]) => name === 'keys')])
  })

  test('create the secrets in the folder mounted by docs/deploying.md', (t) => {
    const mounted = temporaryFolder(t, 'secrets')
    const deploying = readFileSync(join(root, 'docs/deploying.md'), 'utf8')
    const [, program = ''] = /--workdir \/files postern \\\n\s+node (\S+)/.exec(deploying) ?? []
    assert.equal(program, '/app/scripts/make-secrets.ts')
    execFileSync(process.execPath, [program.replace('/app', image)], {
      cwd: mounted,
      env: settingsIn(dockerfile),
    })
    assert.match(readFileSync(join(mounted, '.env'), 'utf8'), /^AUTH_ENCRYPTION_KEY=[\w-]{43}$/m)
  })

  test('need no type stripping and use no compile cache in memory', () => {
    assert.equal(loadedCommands().at(-1), 'false undefined\n')
    // The check detects type stripping without the settings.
    const code = `await import('./server/home-folder.ts')\n${reportTypes}`
    assert.equal(evaluate(code, { NODE_COMPILE_CACHE: folder }).split(' ')[0], 'true')
  })

  test('keep lines and columns, so that stacks match the source', () => {
    const names = globSync('{plugins,routes,db}/**/*.ts', { cwd: image })
    assert.ok(names.length > 100)
    for (const name of names) {
      const [stripped, source] = [image, root].map((folder) =>
        readFileSync(join(folder, name), 'utf8').split('\n'),
      )
      assert.deepEqual(stripped?.map(getLength), source?.map(getLength), name)
    }
  })

  test('are not built in a checkout', () => {
    const checkout = join(folder, 'checkout')
    mkdirSync(join(checkout, '.git'), { recursive: true })
    writeFileSync(join(checkout, 'a.ts'), 'const a: number = 1')
    assert.throws(() => stripTypes(checkout), /is a checkout/)
    assert.equal(readFileSync(join(checkout, 'a.ts'), 'utf8'), 'const a: number = 1')
  })

  test('are built as for the benchmarks', () => {
    assert.match(
      dockerfile,
      /^COPY \. \.\n(COPY --from=console .*\n)?(#.*\n)*RUN node deploy\/strip-types\.ts \.$/m,
    )
    const { NODE_ENV, ...settings } = settingsIn(dockerfile)
    assert.equal(NODE_ENV, 'production')
    assert.deepEqual(settings, imageSettings(image))
  })

  /** The variables it sets, for another folder. */
  function settingsIn(text: string): Record<string, string> {
    const [, pairs = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(text) ?? []
    const here = pairs.replaceAll('/app/', `${image}/`).split(/\s*\\\n\s*/)
    return Object.fromEntries(here.map((pair) => pair.split(/=(.*)/, 2)))
  }
})

/** Prints whether types were stripped, and where compiled code is cached. */
const reportTypes = `const { getCompileCacheDir } = await import('node:module')
  console.log(process.moduleLoadList.some((name) => name.includes('amaro')), getCompileCacheDir())`

const getLength = (line: string) => line.length
