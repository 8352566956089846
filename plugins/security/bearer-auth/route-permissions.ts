/** The permissions that routes declare beside their schema, and which routes must declare one. */
import type { RouteOptions } from 'fastify'

import { type AdminRole, includesRole } from '../../../schemas/console/admin-role.ts'
import type { SystemPermission } from '../../../schemas/organizations/permissions.ts'
import { routePattern } from '../../observability/telemetry/http-route.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The lowest admin role that may call the endpoint; `none` for a route that only reports a disabled feature. What
     * gives access to admins' accounts is for owners: signing keys, identity providers, and the templates of emails with
     * links. An operator may read what such an endpoint returns, and change users who are not admins.
     */
    minimumRole?: AdminRole | 'none'
    /** The permission that a member needs; `none` for what any member, or any signed-in user, may call. */
    organizationPermission?: SystemPermission | 'none'
  }
}

export function createRoutePermissions() {
  const endpoints: { name: string; minimumRole: AdminRole }[] = []

  return {
    /** onRoute: throws at start for a route of /admin or /organizations that declares no permission. */
    requirePermission({ method, url, config = {}, schema }: RouteOptions): void {
      const { minimumRole } = config
      const isForMembers = isBelow('/organizations', url)
      const isForAdmins = isBelow('/admin', url)
      const key = isForMembers ? 'organizationPermission' : 'minimumRole'
      if ((isForMembers || isForAdmins) && !config[key]) {
        throw new Error(`${method} ${url} declares no config.${key}`)
      }
      // Most routes of /organizations are those of /admin/organizations, too.
      if (isForMembers || schema?.hide || !minimumRole || minimumRole === 'none') return
      for (const verb of [method].flat()) {
        endpoints.push({ name: `${verb} ${routePattern(url)}`, minimumRole })
      }
    },

    /** The endpoints of enabled features that an admin role may call. */
    listEndpoints: (role: AdminRole): string[] =>
      endpoints.flatMap(({ name, minimumRole }) => (includesRole(role, minimumRole) ? [name] : [])),
  }
}

function isBelow(root: string, url: string): boolean {
  return url === root || url.startsWith(`${root}/`)
}
