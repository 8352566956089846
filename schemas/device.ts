import { type Static, Type } from '@sinclair/typebox'

import { nullable } from './values/choices.ts'
import { Timestamp, toTimestamp } from './values/timestamp.ts'

const Text = nullable(Type.String())

/** A session in the session list of its user. */
export const Device = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    created_at: Timestamp,
    last_used_at: Timestamp,
    user_agent: Text,
    ip: Text,
    impersonated_by: Type.Optional(
      Type.String({ description: 'The admin who created it as an impersonation' }),
    ),
    client_id: Type.Optional(
      Type.String({ format: 'uuid', description: 'The OAuth client that has the session' }),
    ),
    current: Type.Boolean({ description: 'True for the session of the request' }),
  },
  { title: 'Device' },
)
export type Device = Static<typeof Device>

export const Devices = Type.Object({ sessions: Type.Array(Device) }, { title: 'Devices' })

interface DeviceSource {
  session_id: string
  session_created_at: Date | null
  refreshed_at: Date | null
  user_agent: string | null
  ip: string | null
  impersonated_by: string | null
  oauth_client_id: string | null
}

export function toDevice(row: DeviceSource, currentId?: string): Device {
  const createdAt = row.session_created_at ?? new Date(0)
  return {
    id: row.session_id,
    created_at: toTimestamp(createdAt),
    last_used_at: toTimestamp(row.refreshed_at ?? createdAt),
    user_agent: row.user_agent,
    ip: row.ip,
    ...(row.impersonated_by && { impersonated_by: row.impersonated_by }),
    ...(row.oauth_client_id && { client_id: row.oauth_client_id }),
    current: row.session_id === currentId,
  }
}
