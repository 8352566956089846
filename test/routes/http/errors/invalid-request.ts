/** One case of the tables in this folder: a request and the expected response. */
import type { InjectOptions } from 'fastify'

export interface WrongInput {
  url: string
  method?: InjectOptions['method']
  headers?: Record<string, string>
  /** An object is sent as JSON, text and bytes as they are. */
  body?: object | string | Buffer
  /** Send the bearer token of a signed-in user. */
  signedIn?: true
  answer: [status: number, errorCode: string, message?: string | RegExp]
}

export type WrongInputs = Record<string, WrongInput>

export const email = 'someone@example.com'
export const password = 'correct horse battery'
