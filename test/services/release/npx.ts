/** The npm package, installed by npx into an empty folder. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'

import { newProject } from '../../support/processes/dev-process.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { isReady } from '../../support/processes/server-process.ts'
import { endWithUs } from '../../support/processes/stop-with-parent.ts'
import { until } from '../../support/processes/until.ts'
import { runJourney } from './journey.ts'

/** `npx postern dev`, the journey test, and a request for each page of development. */
export async function passesByNpx(t: TestContext, archive: string): Promise<void> {
  const folder = newProject(t)
  const name = basename(archive)
  copyFileSync(archive, join(folder, name))
  const url = `http://127.0.0.1:${await freePort()}`
  const child = spawn('npx', ['--yes', `./${name}`, 'dev'], {
    cwd: folder,
    env: {
      ...environmentOfNpm(),
      PATH: `${join(process.execPath, '..')}:${process.env.PATH}`,
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
}

/** The variables that npm needs to reach its registry, without those of the server. */
function environmentOfNpm(): NodeJS.ProcessEnv {
  const names = /^(HOME|NODE_EXTRA_CA_CERTS|(https?|no)_proxy)$/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)))
}
