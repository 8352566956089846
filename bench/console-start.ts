/**
 * Start time of the console: `node bench/console-start.ts [users] [rounds]`. Each round opens a page in a new
 * Chromium with an empty profile, signed in by its cookie, on a server as in the container image. Milliseconds since the
 * start of the navigation.
 */
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core'

import { mintServiceRole } from '../server/service-role.ts'
import { withClient } from '../server/with-client.ts'
import { createTarget } from './core/target.ts'
import { newEmail, password } from './core/users.ts'
import { startPostern } from './own-server.ts'
import { quantile } from './statistics.ts'
import { insertUsers } from './stored-users.ts'

const [users = 1000, rounds = 20] = process.argv.slice(2).map(Number)
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'

/** Pages, and what they show once their data is there. */
const pages = [
  { name: 'overview', path: '/console', shown: '.figures strong' },
  { name: 'users', path: '/console/users', shown: 'table a[href*="/users/"]' },
  { name: 'sign-in', path: '/console', shown: '.sign-in a.button', isSignedOut: true },
]

/** Paint, content, and the end of the last long task until half a second later. */
const probe = (shown: string) => `
  globalThis.started = new Promise((resolve) => {
    const busy = []
    new PerformanceObserver((list) => busy.push(...list.getEntries())).observe({ type: 'longtask', buffered: true })
    const look = () => {
      if (!document.querySelector(${JSON.stringify(shown)})) return requestAnimationFrame(look)
      const content = performance.now()
      const report = () => {
        const idle = Math.max(content, ...busy.map(({ startTime, duration }) => startTime + duration))
        const kilobytes = performance.getEntriesByType('resource')
          .reduce((sum, { transferSize }) => sum + transferSize, 0) / 1024
        const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN
        resolve({ paint, content, idle, kilobytes })
      }
      setTimeout(report, 500)
    }
    look()
  })`

interface Start {
  paint: number
  content: number
  idle: number
  kilobytes: number
}

const own = await startPostern({
  env: { AUTH_CONSOLE_ENABLED: 'true', AUTH_OAUTH_SERVER_ENABLED: 'true' },
})
try {
  await withClient({ connectionString: own.databaseUrl }, (client) => insertUsers(client, 0, users))
  const storageState = await signIn(await makeOwner())
  console.log(`${users} users, ${rounds} rounds; p50 / p95 in ms\n`)
  console.log('| Page | first paint | content | interactive | KiB |')
  console.log('| --- | ---: | ---: | ---: | ---: |')
  for (const { name, path, shown, isSignedOut } of pages) {
    const starts: Start[] = []
    for (let i = 0; i < rounds; i++) {
      starts.push(await measure(path, shown, isSignedOut ? {} : { storageState }))
    }
    console.log(`| ${[name, ...toCells(starts)].join(' | ')} |`)
  }
} finally {
  await own.stop()
}

function toCells(starts: Start[]): string[] {
  const times = (['paint', 'content', 'idle'] as const).map((key) => {
    const sorted = starts.map((start) => start[key]).sort((a, b) => a - b)
    return `${quantile(sorted, 0.5).toFixed(0)} / ${quantile(sorted, 0.95).toFixed(0)}`
  })
  return [...times, (starts[0]?.kilobytes ?? 0).toFixed(0)]
}

async function measure(path: string, shown: string, options: BrowserContextOptions) {
  return inNewBrowser(options, async (page) => {
    await page.addInitScript(probe(shown))
    await page.goto(own.url + path)
    return page.evaluate<Start>('started')
  })
}

/** The email of a user who is an owner. */
async function makeOwner(): Promise<string> {
  const serviceRole = await mintServiceRole(own.jwtSecret)
  const target = createTarget({ name: 'own', url: own.url, connections: 1, serviceRole })
  const email = newEmail()
  const call = <T>(path: string, body: object) =>
    target.call<T>({ method: 'POST', path, token: serviceRole, body })
  const { id } = await call<{ id: string }>('/admin/users', {
    email,
    password,
    email_confirm: true,
  })
  await call('/admin/admins', { user_id: id, role: 'owner' })
  await target.close()
  return email
}

async function signIn(email: string) {
  return inNewBrowser({}, async (page) => {
    await page.goto(`${own.url}/console`)
    await page.getByRole('link', { name: 'Sign in', exact: true }).click()
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    return page.context().storageState()
  })
}

async function inNewBrowser<T>(options: BrowserContextOptions, use: (page: Page) => Promise<T>) {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
  ]
  const browser = await chromium.launch({ executablePath, args })
  try {
    const context = await browser.newContext(options)
    return await use(await context.newPage())
  } finally {
    await browser.close()
  }
}
