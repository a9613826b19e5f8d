/** The logo: values on lines, with the middle one marked. */
export function Logo() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 9h7M7 16h18M7 23h7" />
      <circle cx="19" cy="9" r="2.6" opacity=".7" />
      <circle cx="25" cy="16" r="3.4" />
      <circle cx="19" cy="23" r="2.6" opacity=".7" />
    </svg>
  );
}
