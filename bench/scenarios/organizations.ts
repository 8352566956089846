/**
 * Refresh, GET /user and sign-in of users in fifty organizations. The rows are the same for every variant, so that a run with
 * --organizations compares a server that reads them with one that does not.
 */
import { withClient } from '../../server/with-client.ts'
import { Rejected } from '../core/rejected.ts'
import type { Scenario } from '../core/scenario.ts'
import type { Target } from '../core/target.ts'
import { getUser } from './get-user.ts'
import { refresh } from './refresh.ts'
import { signIn } from './sign-in.ts'

const organizationsOfUser = 50

/** Every user is a member of the same fifty, and every session has an active one. */
async function joinAll({ databaseUrl }: Target): Promise<void> {
  if (!databaseUrl) throw new Rejected('needs --database-url')
  await withClient({ connectionString: databaseUrl }, async (client) => {
    await client.query(
      `insert into auth.postern_organizations (id, slug, name, created_at, updated_at)
        select gen_random_uuid(), 'bench-' || n, 'Bench ' || n, now(), now()
        from generate_series(1, $1) as n on conflict do nothing`,
      [organizationsOfUser],
    )
    await client.query(
      `insert into auth.postern_organization_members
          (organization_id, user_id, role, joined_by, created_at, updated_at)
        select o.id, u.id, 'member', 'admin', now(), now()
        from auth.postern_organizations as o, auth.users as u
        where o.slug like 'bench-%' on conflict do nothing`,
    )
    await client.query(
      `insert into auth.postern_session_organizations (session_id, organization_id, user_id)
        select s.id, o.id, s.user_id from auth.sessions as s
        join auth.postern_organizations as o on o.slug = 'bench-1' on conflict do nothing`,
    )
    await client.query('analyze auth.postern_organization_members')
  })
}

function withOrganizations(scenario: Scenario): Scenario {
  return {
    name: `organizations-${scenario.name}`,
    isOptional: true,
    async prepare(target, plan) {
      const load = await scenario.prepare(target, plan)
      await joinAll(target)
      return load
    },
  }
}

export const organizationScenarios = [refresh, getUser, signIn].map(withOrganizations)
