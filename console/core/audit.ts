/** The audit log, newest first. */
import { requestApi, withQuery } from './api.ts'
import type { ListPage } from './resource.ts'
import type { ShownAuditEntry } from './shapes.ts'

export type AuditFilters = Partial<
  Record<'query' | 'user_id' | 'action' | 'from' | 'to', string | undefined>
>

export async function listAudit(
  filters: AuditFilters,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ListPage<ShownAuditEntry>> {
  const path = withQuery('/admin/audit', { ...filters, limit: 50, cursor })
  const { body, headers } = await requestApi(path, { signal })
  return { items: body, next: nextCursor(headers.get('link')) }
}

/** `Link: </admin/audit?cursor=...>; rel="next"` (RFC 8288). */
function nextCursor(link: string | null): string | undefined {
  const target = /<([^>]*)>; *rel="next"/.exec(link ?? '')?.[1]
  return target && (new URLSearchParams(target.split('?')[1]).get('cursor') ?? undefined)
}
