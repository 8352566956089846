/** A request to each route of the server, and some in a row. A new route gets one without a body by itself. */
import type { World } from '../world/index.ts'
import { createAdminRequests } from './admin.ts'
import { createOauthRequests, createScimRequests } from './clients.ts'
import { createJourneys } from './journeys.ts'
import { createOrganizationRequests } from './organizations.ts'
import { createPublicRequests } from './public.ts'
import { type Answer, listRoutes, type Requests, send } from './send.ts'
import { createUserRequests } from './user.ts'

/** By name. Throws for a request to an unknown route. */
export function createRequests(world: World): Map<string, () => Promise<Answer>> {
  const known: Requests = {
    ...createPublicRequests(world),
    ...createUserRequests(world),
    ...createAdminRequests(world),
    ...createOrganizationRequests(world),
    ...createOauthRequests(world),
    ...createScimRequests(world),
  }
  const requests = new Map(Object.entries(createJourneys(world)))
  const routes = listRoutes(world.app).filter(({ route }) => !/^\/(docs|dev)\b/.test(route))
  const names = routes.map(({ method, route }) => `${method} ${route}`)
  for (const { method, route } of routes) {
    const name = `${method} ${route}`
    for (const [index, sent] of [known[name] ?? {}].flat().entries()) {
      const label = index === 0 ? name : `${name} (${index + 1})`
      requests.set(label, () => send(world, method, route, sent))
    }
  }
  const unknown = Object.keys(known).filter((name) => !names.includes(name))
  if (unknown.length > 0) throw new Error(`no such routes: ${unknown.join(', ')}`)
  return requests
}
