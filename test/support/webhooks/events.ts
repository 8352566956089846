/** Reading the stream of events, as operators do. */
import type { Static } from '@sinclair/typebox'

import type { EventUser, StreamedEvent } from '../../../schemas/events.ts'
import { adminCall } from '../admin.ts'
import { until } from '../processes/until.ts'
import type { App } from '../server.ts'

export interface Streamed extends Omit<Static<typeof StreamedEvent>, 'data'> {
  data: Record<string, unknown> & { user?: Static<typeof EventUser> }
}

/** The events of the user, once there are at least so many. */
export async function allEvents(
  app: App,
  userId: string | undefined,
  min: number,
  type = '',
): Promise<Streamed[]> {
  const query = new URLSearchParams({ limit: '1000', type, user_id: userId ?? '' })
  let events: Streamed[] = []
  await until(async () => {
    const stream = await adminCall<{ events: Streamed[] }>(app, 'GET', `/admin/events?${query}`)
    events = stream.events
    return events.length >= min
  })
  return events
}

export const typesIn = (events: readonly { type: string }[]) => events.map(({ type }) => type)
