/**
 * What the Messages API takes: 5 MB of base64 an image, 8000 px a side while a request has at most 20 images (2000 px
 * with more), 32 MB a request. https://docs.claude.com/en/docs/build-with-claude/vision
 */
export const MAX_IMAGE_BASE64 = 5 * 1024 * 1024;
/** The same before base64 makes four bytes of three. */
export const MAX_IMAGE_BYTES = (MAX_IMAGE_BASE64 / 4) * 3;
export const MAX_IMAGE_SIDE = 8000;
/** Of a request, and so of a message too. */
export const MAX_IMAGES = 20;
/** All images of one message together, so that a request has room for them and for its text. */
export const MAX_IMAGES_BYTES = 15_000_000;
/** Text files of one message. */
export const MAX_FILES = 20;
