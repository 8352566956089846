import type { FastifyInstance } from 'fastify'

import { isAllowedRedirect } from '../flows/index.ts'

/**
 * The final redirect target: a path is relative to the site, and a target that is not allowed is replaced by the site.
 */
export function redirectTarget(
  { config, flows }: FastifyInstance,
  requested: string | undefined,
): string {
  const site = config.AUTH_SITE_URL
  if (!requested) return site
  const target = requested.startsWith('/') ? URL.parse(requested, site)?.href : requested
  return target && isAllowedRedirect(target, flows.redirectRules) ? target : site
}
