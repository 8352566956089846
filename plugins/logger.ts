/** The structured log: one JSON object a line, without secrets, addresses of people or query strings. */
import type { FastifyBaseLogger } from 'fastify'
import pino, { type DestinationStream } from 'pino'

import { serializeError, shortenFields, shortenMessage } from './logger/shorten.ts'

/** Replaced in every line, in case one is logged by mistake: nothing logs these on purpose. */
const secretFields = [
  'password',
  'token',
  'token_hash',
  'access_token',
  'refresh_token',
  'code',
  'nonce',
  'secret',
  'authorization',
  'apikey',
  'email',
  'phone',
]

const levels = { panic: 'fatal' } as const

export interface LoggerOptions {
  /** One of panic, fatal, error, warn, info, debug. */
  level: string
  /** Appended to instead of standard output. */
  file?: string | undefined
  /** Other processes write to the same output. */
  isShared?: boolean
}

export interface Logger {
  log: FastifyBaseLogger
  /** Opens the log file anew, after it was moved away. */
  reopen(): void
}

/** Lines are written many at a time: a system call for each would be a tenth of a short request's cost. */
const buffering = {
  sync: false,
  /** Milliseconds after which few lines are written as well. */
  periodicFlush: 100,
}
/** Characters that are collected before they are written. */
const fewCharacters = 12_288
/** Where several processes share a pipe, up to 4 KiB stay in one piece. */
const fewSharedCharacters = 2_048

/** What is not written yet when the process ends is written then. */
export function createLogger({ level, file, isShared = false }: LoggerOptions): Logger {
  const to = file ? { dest: file, mkdir: true } : { fd: process.stdout.fd }
  const minLength = isShared ? fewSharedCharacters : fewCharacters
  const destination = pino.destination({ ...to, ...buffering, minLength })
  return { log: createPino(level, destination), reopen: () => file && destination.reopen() }
}

export function createPino(level: string, destination: DestinationStream): FastifyBaseLogger {
  const options = {
    level: level in levels ? levels[level as keyof typeof levels] : level,
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
    formatters: { log: shortenFields },
    serializers: { err: serializeError, msg: shortenMessage },
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
  }
  return pino(options, destination)
}
