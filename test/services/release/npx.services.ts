/** The npm package, installed by npx into an empty folder. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { packNpm } from '../../../scripts/release/npm-package.ts'
import { newProject } from '../../support/processes/dev-process.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { isReady } from '../../support/processes/server-process.ts'
import { endWithUs } from '../../support/processes/stop-with-parent.ts'
import { until } from '../../support/processes/until.ts'
import { newFolder, repository, unpack } from './artifacts.ts'
import { runJourney } from './journey.ts'

suite('npm package', { timeout: 10 * 60_000 }, () => {
  test('npx postern dev runs in an empty folder and passes the journey test', async (t) => {
    const folder = newProject(t)
    const name = await packNpm(repository, newFolder(t), folder)
    const url = `http://127.0.0.1:${await freePort()}`
    const child = spawn('npx', ['--yes', `./${name}`, 'dev'], {
      cwd: folder,
      env: {
        PATH: `${join(process.execPath, '..')}:${process.env.PATH}`,
        HOME: process.env.HOME,
        PORT: new URL(url).port,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
      detached: true,
    })
    endWithUs(child, `-${child.pid}`)
    const ended = once(child, 'exit')
    t.after(async () => {
      if (child.exitCode === null) process.kill(-Number(child.pid), 'SIGTERM')
      await ended
    })
    const failed = ended.then(([code]) => assert.fail(`npx ended with ${code}`))
    failed.catch(() => {})
    await Promise.race([until(() => isReady(url), { seconds: 480 }), failed])
    await runJourney(url, async (address) => {
      const text = await (await fetch(`${url}/dev/messages`)).text()
      const messages: { to: string; code: string }[] = JSON.parse(text)
      return messages.find(({ to }) => to === address)?.code
    })
    for (const path of ['/dev/example', '/docs', '/docs/guide', '/console', '/dev/inbox']) {
      assert.equal((await fetch(url + path)).status, 200, path)
    }
  })

  test('the command of the package names itself postern', async (t) => {
    const to = newFolder(t)
    const folder = unpack(t, join(to, await packNpm(repository, newFolder(t), to)))
    // Its packages are not needed for the overview.
    const { stdout, status } = spawnSync(process.execPath, ['postern.mjs', '--help'], {
      cwd: folder,
      encoding: 'utf8',
    })
    assert.equal(status, 0)
    assert.match(stdout, /^npx postern COMMAND \[ARGUMENTS\]\n/)
    assert.doesNotMatch(stdout, /npm run/)
  })
})
