import { Type } from '@sinclair/typebox'

/** The path of one factor; its id is read by the route, because a wrong one is 404. */
export const FactorPath = Type.Object({ factor_id: Type.String() })
