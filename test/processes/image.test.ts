/** The programs of the container image, built from this checkout as in the Dockerfile and started manually. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { makeImage } from '../../bench/own/image.ts'
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
    `
    output ??= evaluate(code, settingsIn(dockerfile)).split('\0\n')
    return output
  }

  const readCommand = (): string[] => JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]')

  const evaluate = (code: string, env: Record<string, string>, options: string[] = []) =>
    execFileSync(process.execPath, [...options, '--input-type=module', '--eval', code], {
      cwd: image,
      env,
      encoding: 'utf8',
    })

  test('serve with the settings and the command of the Dockerfile and exit with 0', async (t) => {
    const [, ...args] = readCommand()
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
      assert.match(line, /^node --require=\.\/scripts\/require-node\.cjs (--\S+ )*cli\.ts [\w-]+$/)
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

  test('serve without type stripping and without a compile cache in memory', () => {
    const code = `process.argv.splice(1, Infinity, 'cli.ts', 'serve', '--help')
      await import('./cli.ts')
      ${reportTypes}`
    const command = readCommand()
    const options = command.slice(1, command.indexOf('cli.ts'))
    const report = evaluate(code, settingsIn(dockerfile), options).split('\n').at(-2)
    assert.equal(report, 'false undefined')
    // The check detects type stripping without the option.
    assert.match(evaluate(code, settingsIn(dockerfile)), /\ntrue undefined\n$/)
  })

  test('are stored without types, with unchanged lines and columns, so that stacks match the source', async () => {
    const { strippedFile } = await import(join(image, 'deploy/strip-types.mjs'))
    const names = globSync('{plugins,routes,db}/**/*.ts', { cwd: image })
    assert.ok(names.length > 100)
    for (const name of names) {
      const source = readFileSync(join(image, name), 'utf8')
      const stripped = readFileSync(strippedFile(source), 'utf8')
      const [lengths, others] = [source, stripped].map((text) => text.split('\n').map(getLength))
      assert.deepEqual(others, lengths, name)
    }
  })

  test('are stripped when the image is built, because its user stores nothing', () => {
    assert.match(
      dockerfile,
      /^COPY \. \.\n(COPY --from=console .*\n)?(#.*\n)*RUN node deploy\/strip-types\.mjs$/m,
    )
  })

  test('start as npm start does', () => {
    const [program, ...start] = (scripts.start ?? '').split(' ')
    const checksNode = '--require=./scripts/require-node.cjs'
    assert.deepEqual([program, ...start.filter((word) => word !== checksNode)], readCommand())
  })

  function settingsIn(text: string): Record<string, string> {
    const [, name = '', value = ''] = /^ENV (\w+)=(\S+)$/m.exec(text) ?? []
    return { [name]: value }
  }
})

/** Prints whether types were stripped, and where compiled code is cached. */
const reportTypes = `const { getCompileCacheDir } = await import('node:module')
  console.log(process.moduleLoadList.some((name) => name.includes('amaro')), getCompileCacheDir())`

const getLength = (line: string) => line.length
