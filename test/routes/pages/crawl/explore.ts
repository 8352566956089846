/**
 * Does everything on every page that is reached, with right, wrong and incomplete entries. A page of which something is
 * left to do is reached again in a new browser with new users.
 */
import assert from 'node:assert/strict'

import { errorIn, type PageResponse, reasonIn, titleIn } from '../../../support/page-browser.ts'
import { shareServers } from '../../../support/processes/shared-servers.ts'
import { withoutValues } from './elements.ts'
import { listSteps, type Step, take } from './steps.ts'
import { makeWorld, openServer, type Scenario, type Server } from './world.ts'

interface Exploration {
  /** The paths of the pages that were reached. */
  pages: Set<string>
  steps: number
  /** Steps that led to an error or to a page without a way on, from the start. */
  dead: string[]
}

/** Called in a suite: its scenarios share a server and what was seen, so that each page is explored once. */
export function explorer() {
  const server = shareServers(openServer)
  const seen = new Set<string>()
  /** Returns the paths that were reached. */
  return async (scenario: Scenario, minSteps: number): Promise<Set<string>> => {
    const { dead, steps, pages } = await explore(await server(), scenario, seen)
    assert.deepEqual(dead, [])
    assert.ok(steps >= minSteps, `${steps} steps only`)
    return pages
  }
}

/** Adds what it does to `seen`. */
async function explore(
  server: Server,
  scenario: Scenario,
  seen: Set<string>,
): Promise<Exploration> {
  const found: Exploration = { pages: new Set(), steps: 0, dead: [] }
  const queue: Step[][] = [[]]
  for (let path = queue.shift(); path; path = queue.shift()) {
    const world = await makeWorld(server, scenario)
    let page = await world.browser.open(world.start)
    for (const step of path) page = await take(world, page, step)
    for (;;) {
      found.steps += 1
      found.pages.add(getPath(page))
      const fault = findFault(page, path.at(-1))
      if (fault) found.dead.push(describePath(scenario, path, page, fault))
      if (fault) break
      const [first, ...others] = listNewSteps(server, scenario, page, seen)
      if (!first) break
      queue.push(...others.map((other) => [...(path ?? []), other]))
      path = [...path, first]
      page = await take(world, page, first)
    }
  }
  return found
}

function listNewSteps(server: Server, scenario: Scenario, page: PageResponse, seen: Set<string>) {
  if (scenario.scope?.test(getPath(page)) === false) return []
  const place = describePage(scenario, page)
  return listSteps(server, scenario, page).filter(({ key, variant }) => {
    const name = [place, key, variant].join(' | ')
    const isNew = !seen.has(name)
    seen.add(name)
    return isNew
  })
}

const getPath = ({ path }: PageResponse): string => path.split('?', 1)[0] ?? ''

/** Pages of a client's request are explored for each prompt and number of accounts. */
function describePage({ prompt, accounts, state }: Scenario, page: PageResponse): string {
  const isRequest = /authorization_id/.test(page.path + page.html)
  const request = isRequest ? `prompt ${prompt} with ${accounts} accounts` : ''
  const shown = [titleIn(page), errorIn(page), reasonIn(page)]
  return [withoutValues(page.path), ...shown, state, request].join(' / ')
}

/** A wrong entry leads to the form with its error. */
function findFault(page: PageResponse, last: Step | undefined): string | undefined {
  const { location, status, html } = page
  if (location !== undefined) return undefined
  if (!/<button|<a /.test(html)) return 'no way on'
  if (status === 200) return undefined
  const isRejectedEntry = last?.variant !== 'right' && status < 500 && /<form/.test(html)
  return isRejectedEntry && errorIn(page) ? undefined : `status ${status}`
}

function describePath(scenario: Scenario, path: Step[], page: PageResponse, fault: string): string {
  const steps = path.map(({ key, variant }) => `${key} (${variant})`)
  const end = `${fault}: ${titleIn(page)}, ${errorIn(page)}`
  return [JSON.stringify(scenario), ...steps, end].join('\n  ')
}
