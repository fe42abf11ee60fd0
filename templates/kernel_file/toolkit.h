// Declarations that replace the host's part of the Toolkit and the standard library. They have what the launches of a
// program depend on. libclang reads them before a file of CUDA C++, and finds no other header. They are never compiled.
#define __CUDACC__ 1
#define CUDART_VERSION 13000
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__
#define __forceinline__ inline
#define __noinline__
#define __restrict__
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define NULL 0
#define stdout ((FILE *)0)
#define stderr ((FILE *)0)
#define EXIT_FAILURE 1
#define EXIT_SUCCESS 0
#define RAND_MAX 2147483647
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define FLT_MAX 3.402823466e+38f
#define DBL_MAX 1.7976931348623157e+308
#define M_PI 3.14159265358979323846
#define assert(x)
// A value of any type, and declarations of names that this header and the file lack (lua/lib/host_syntax.lua).
struct autotune_any {
    template <class T> __host__ __device__ operator T() const;
    template <class... A> __host__ __device__ autotune_any operator()(const A &...) const;
    template <class T> __host__ __device__ autotune_any operator[](const T &) const;
    template <class T> __host__ __device__ autotune_any operator=(const T &) const;
    __host__ __device__ const autotune_any *operator->() const;
};
#define AUTOTUNE_OPERATOR(op)                                                                                                          \
    template <class T> __host__ __device__ autotune_any operator op(const autotune_any &, const T &);                                  \
    template <class T> __host__ __device__ autotune_any operator op(const T &, const autotune_any &);                                  \
    __host__ __device__ autotune_any operator op(const autotune_any &, const autotune_any &);
AUTOTUNE_OPERATOR(+) AUTOTUNE_OPERATOR(-) AUTOTUNE_OPERATOR(*) AUTOTUNE_OPERATOR(/) AUTOTUNE_OPERATOR(%) AUTOTUNE_OPERATOR(==)
AUTOTUNE_OPERATOR(!=) AUTOTUNE_OPERATOR(<) AUTOTUNE_OPERATOR(>) AUTOTUNE_OPERATOR(<=) AUTOTUNE_OPERATOR(>=) AUTOTUNE_OPERATOR(&)
AUTOTUNE_OPERATOR(|) AUTOTUNE_OPERATOR(<<) AUTOTUNE_OPERATOR(>>)
#define AUTOTUNE_FUNCTION(name)                                                                                                        \
    template <class... A> __host__ __device__ autotune_any name(const A &...);                                                         \
    template <class T, class... A> __host__ __device__ autotune_any name(const A &...);                                                \
    template <auto T, class... A> __host__ __device__ autotune_any name(const A &...);
#define AUTOTUNE_TYPE(name)                                                                                                            \
    struct name : autotune_any { template <class... A> __host__ __device__ name(const A &...); using autotune_any::operator=; };
#define AUTOTUNE_TEMPLATE(name)                                                                                                        \
    template <class... T> struct name : autotune_any { template <class... A> __host__ __device__ name(const A &...); using autotune_any::operator=; };
#define AUTOTUNE_VALUE(name) extern const autotune_any name;
typedef unsigned long size_t;
typedef long ptrdiff_t, ssize_t, clock_t, time_t, int64_t;
typedef unsigned long uint64_t, uintptr_t, ulong;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef unsigned char uint8_t, uchar;
typedef unsigned short uint16_t, ushort;
typedef unsigned int uint32_t, uint;
struct FILE;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct cudaArray *cudaArray_t;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
typedef int CUdevice, CUresult;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
enum cudaError_t { cudaSuccess = 0, cudaErrorUnknown = 999 };
typedef cudaError_t cudaError;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum { cudaHostAllocDefault, cudaHostAllocMapped = 2, cudaEventDefault = 0, cudaStreamDefault = 0, cudaStreamNonBlocking, cudaMemAttachGlobal };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor, maxGridSize[3], maxThreadsDim[3], clockRate;
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor;
};
#define AUTOTUNE_VECTORS(type, name)                                                                                                   \
    struct name##1 { type x; }; struct name##2 { type x, y; }; struct name##3 { type x, y, z; }; struct name##4 { type x, y, z, w; };  \
    __host__ __device__ name##1 make_##name##1(type x); __host__ __device__ name##2 make_##name##2(type x, type y);                    \
    __host__ __device__ name##3 make_##name##3(type x, type y, type z);                                                                \
    __host__ __device__ name##4 make_##name##4(type x, type y, type z, type w);
AUTOTUNE_VECTORS(char, char)
AUTOTUNE_VECTORS(unsigned char, uchar)
AUTOTUNE_VECTORS(short, short)
AUTOTUNE_VECTORS(unsigned short, ushort)
AUTOTUNE_VECTORS(int, int)
AUTOTUNE_VECTORS(unsigned, uint)
AUTOTUNE_VECTORS(long, long)
AUTOTUNE_VECTORS(unsigned long, ulong)
AUTOTUNE_VECTORS(long long, longlong)
AUTOTUNE_VECTORS(unsigned long long, ulonglong)
AUTOTUNE_VECTORS(float, float)
AUTOTUNE_VECTORS(double, double)
struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};
struct __attribute__((aligned(2))) __half { unsigned short x; __half() = default; __host__ __device__ __half(float); __host__ __device__ operator float() const; };
struct __attribute__((aligned(2))) __nv_bfloat16 { unsigned short x; __nv_bfloat16() = default; __host__ __device__ __nv_bfloat16(float); __host__ __device__ operator float() const; };
struct __attribute__((aligned(4))) __half2 { __half x, y; };
struct __attribute__((aligned(4))) __nv_bfloat162 { __nv_bfloat16 x, y; };
struct __nv_fp8_e4m3 { unsigned char x; };
struct __nv_fp8_e5m2 { unsigned char x; };
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
struct curandState { unsigned words[12]; };
typedef curandState curandStateXORWOW_t, curandState_t;
template <class T> __device__ void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, T *state) { *state = T(); }
struct cuComplex { float x, y; };
struct cuDoubleComplex { double x, y; };
typedef cuComplex cuFloatComplex;
namespace nvcuda { namespace wmma {
struct matrix_a; struct matrix_b; struct accumulator; struct row_major; struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision { struct tf32; struct u4; struct s4; struct b1; }
template <class Use, int m, int n, int k, class T, class Layout = void> struct fragment { T x[16]; int num_elements; };
template <class F, class T> __device__ void load_matrix_sync(F &f, const T *p, unsigned stride, layout_t layout = mem_row_major);
template <class F, class T> __device__ void store_matrix_sync(T *p, const F &f, unsigned stride, layout_t layout) { *p = f.x[0]; }
template <class F, class T> __device__ void fill_fragment(F &f, T v);
template <class D, class A, class B, class C> __device__ void mma_sync(D &d, const A &a, const B &b, const C &c);
} }
extern __device__ const uint3 threadIdx, blockIdx;
extern __device__ const dim3 blockDim, gridDim;
extern __device__ const int warpSize;
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
template <class T> cudaError_t cudaMalloc(T **p, size_t bytes);
template <class T> cudaError_t cudaMallocAsync(T **p, size_t bytes, cudaStream_t stream);
template <class T> cudaError_t cudaMallocManaged(T **p, size_t bytes, unsigned flags = 1);
template <class T> cudaError_t cudaMallocHost(T **p, size_t bytes, unsigned flags = 0);
template <class T> cudaError_t cudaHostAlloc(T **p, size_t bytes, unsigned flags);
template <class T> cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height);
template <class T> cudaError_t cudaHostGetDevicePointer(T **p, void *host, unsigned flags);
template <class T> cudaError_t cudaGetSymbolAddress(void **p, const T &symbol);
template <class T> cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice);
template <class T> cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
template <class T> cudaError_t cudaFuncSetAttribute(T *f, cudaFuncAttribute a, int v);
template <class T> cudaError_t cudaFuncSetCacheConfig(T *f, cudaFuncCache c);
template <class T> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T f, int threads, size_t shared);
template <class T> cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T f, size_t shared = 0, int limit = 0);
template <class T> cudaError_t cudaLaunchKernel(const T *f, dim3 grid, dim3 block, void **arguments, size_t shared = 0, cudaStream_t stream = 0);
template <class T> cudaError_t cudaLaunchCooperativeKernel(const T *f, dim3 grid, dim3 block, void **arguments, size_t shared = 0, cudaStream_t stream = 0);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = 0);
cudaError_t cudaFree(void *p);
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaThreadSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device);
enum cudaDeviceAttr { cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrWarpSize = 10, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMaxThreadsPerMultiProcessor = 39 };
cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device);
cudaError_t cudaEventCreate(cudaEvent_t *e, unsigned flags = 0);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaStreamCreate(cudaStream_t *s);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t s);
cudaError_t cudaStreamDestroy(cudaStream_t s);
const char *cudaGetErrorString(cudaError_t e);
const char *cudaGetErrorName(cudaError_t e);
extern "C" {
void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *aligned_alloc(size_t alignment, size_t bytes);
int posix_memalign(void **p, size_t alignment, size_t bytes);
void *realloc(void *p, size_t bytes);
void free(void *p);
void exit(int status) __attribute__((noreturn));
void abort() __attribute__((noreturn));
void *memset(void *to, int value, size_t bytes);
void *memcpy(void *to, const void *from, size_t bytes);
int atoi(const char *text);
long atol(const char *text);
long long atoll(const char *text);
double atof(const char *text);
double strtod(const char *text, char **end);
float strtof(const char *text, char **end);
long strtol(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
long long strtoll(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);
char *getenv(const char *name);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
size_t strlen(const char *text);
int printf(const char *format, ...);
int fprintf(FILE *to, const char *format, ...);
int sscanf(const char *text, const char *format, ...);
int scanf(const char *format, ...);
int fscanf(FILE *from, const char *format, ...);
int puts(const char *text);
FILE *fopen(const char *path, const char *mode);
int fclose(FILE *f);
size_t fread(void *to, size_t bytes, size_t count, FILE *f);
int rand();
void srand(unsigned seed);
double drand48();
time_t time(time_t *t);
clock_t clock();
}
#define AUTOTUNE_MATH(name)                                                                                                            \
    __host__ __device__ double name(double x);                                                                                         \
    __host__ __device__ float name(float x);                                                                                           \
    __host__ __device__ float name##f(float x);                                                                                        \
    template <class T> __host__ __device__ double name(T x);
AUTOTUNE_MATH(ceil) AUTOTUNE_MATH(floor) AUTOTUNE_MATH(sqrt) AUTOTUNE_MATH(log2) AUTOTUNE_MATH(log10) AUTOTUNE_MATH(log) AUTOTUNE_MATH(exp) AUTOTUNE_MATH(fabs)
AUTOTUNE_MATH(sin) AUTOTUNE_MATH(cos) AUTOTUNE_MATH(round) AUTOTUNE_MATH(rsqrt) AUTOTUNE_MATH(tanh)
template <class T, class U> __host__ __device__ double pow(T x, U y);
__host__ __device__ float powf(float x, float y);
template <class T> __host__ __device__ T abs(T x);
struct timeval { long tv_sec, tv_usec; };
struct timezone { int tz_minuteswest, tz_dsttime; };
template <class T, class U> __host__ __device__ constexpr auto min(T a, U b) { return a < b ? a : b; }
template <class T, class U> __host__ __device__ constexpr auto max(T a, U b) { return a > b ? a : b; }
__device__ float atomicAdd(float *p, float v);
__device__ int atomicAdd(int *p, int v);
__device__ unsigned atomicAdd(unsigned *p, unsigned v);
__device__ void __syncthreads();
namespace std {
using ::size_t; using ::int64_t; using ::int32_t; using ::uint32_t; using ::uint64_t; using ::uint8_t; using ::int8_t; using ::uint16_t; using ::int16_t;
using ::ceil; using ::floor; using ::sqrt; using ::log2; using ::pow; using ::abs; using ::malloc; using ::free; using ::atoi; using ::atof; using ::exit;
using ::printf; using ::memset; using ::memcpy; using ::rand; using ::fabs; using ::exp; using ::log; using ::sin; using ::cos; using ::round;
template <class T> constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> void swap(T &a, T &b) { T c = a; a = b; b = c; }
template <class T> T &&move(T &v);
template <class T> struct initializer_list { const T *p; size_t n; const T *begin() const; const T *end() const; size_t size() const; };
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> struct conditional { typedef T type; };
template <class T, class F> struct conditional<false, T, F> { typedef F type; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <class T, class U> struct is_same { static constexpr bool value = false; };
template <class T> struct is_same<T, T> { static constexpr bool value = true; };
template <class T, class U> inline constexpr bool is_same_v = is_same<T, U>::value;
template <class T> struct numeric_limits { static constexpr T max(); static constexpr T min(); static constexpr T lowest(); static constexpr T infinity(); };
template <class T, class U> struct pair { T first; U second; };
template <class T> struct vector {
    size_t count;
    T *elements;
    vector();
    explicit vector(size_t n);
    vector(size_t n, const T &v);
    vector(initializer_list<T> list);
    template <class I> vector(I first, I last);
    size_t size() const;
    void resize(size_t n);
    void resize(size_t n, const T &v);
    void assign(size_t n, const T &v);
    void reserve(size_t n);
    void push_back(const T &v);
    T *data();
    const T *data() const;
    T *begin();
    T *end();
    const T *begin() const;
    const T *end() const;
    T &operator[](size_t i);
    const T &operator[](size_t i) const;
    T &at(size_t i);
    const T *cbegin() const;
    const T *cend() const;
    void clear();
    void pop_back();
    template <class... A> void emplace_back(A &&...);
    template <class... A> T *insert(A &&...);
    template <class... A> T *erase(A &&...);
    T &front();
    T &back();
    bool empty() const;
};
template <class T, size_t N> struct array {
    T elements[N];
    constexpr size_t size() const { return N; }
    T *data();
    T &operator[](size_t i);
};
template <class T> struct unique_ptr { T *get(); };
template <class T> struct unique_ptr<T[]> { T *get(); T &operator[](size_t i); };
template <class T> unique_ptr<T> make_unique(size_t n);
struct string { string(); string(const char *); const char *c_str() const; size_t size() const; bool operator==(const char *) const; };
int stoi(const string &text);
long stol(const string &text);
unsigned long stoul(const string &text);
unsigned long long stoull(const string &text);
float stof(const string &text);
double stod(const string &text);
string operator+(const string &, const string &);
template <class T> string to_string(T v);
struct ostream { bool is_open(); void close(); ostream &write(const char *, size_t); ostream &precision(int); };
template <class T> ostream &operator<<(ostream &, const T &);
ostream &operator<<(ostream &, ostream &(*)(ostream &));
extern ostream cout, cerr, clog;
ostream &endl(ostream &);
ostream &fixed(ostream &);
ostream &scientific(ostream &);
ostream &flush(ostream &);
int setw(int n);
int setprecision(int n);
struct istream { bool is_open(); void close(); bool eof(); bool good(); istream &read(char *, size_t); explicit operator bool() const; bool operator!() const; };
template <class T> istream &operator>>(istream &, T &);
extern istream cin;
struct ofstream : ostream { ofstream(); template <class... A> ofstream(const A &...); };
struct ifstream : istream { ifstream(); template <class... A> ifstream(const A &...); };
struct stringstream : istream { stringstream(); template <class T> stringstream &operator<<(const T &); string str() const; };
typedef stringstream ostringstream, istringstream;
struct runtime_error { template <class T> runtime_error(const T &); const char *what() const; };
typedef runtime_error exception, invalid_argument, logic_error, out_of_range;
template <class F> struct function { template <class G> function(const G &); template <class... A> int operator()(A &&...) const; };
struct mutex { void lock(); void unlock(); };
struct thread { template <class... A> thread(A &&...); void join(); };
namespace chrono {
struct nanoseconds {};
struct microseconds {};
struct milliseconds {};
struct seconds {};
template <class T, class P = int> struct duration { double count() const; };
struct time_point { duration<double> operator-(const time_point &) const; duration<double> time_since_epoch() const; };
struct steady_clock { typedef chrono::time_point time_point; static time_point now(); };
typedef steady_clock high_resolution_clock, system_clock;
template <class T, class D> duration<double> duration_cast(const D &);
}
typedef int milli, micro, nano;
struct mt19937 { mt19937(); template <class T> mt19937(T seed); unsigned operator()(); };
typedef mt19937 mt19937_64, default_random_engine, minstd_rand;
struct random_device { unsigned operator()(); };
template <class T = double> struct uniform_real_distribution { uniform_real_distribution(); template <class... A> uniform_real_distribution(A...); template <class G> T operator()(G &g); };
template <class T = int> struct uniform_int_distribution { uniform_int_distribution(); template <class... A> uniform_int_distribution(A...); template <class G> T operator()(G &g); };
template <class T = double> struct normal_distribution { normal_distribution(); template <class... A> normal_distribution(A...); template <class G> T operator()(G &g); };
template <class I, class... A> I min_element(I first, A &&...);
template <class I, class... A> I max_element(I first, A &&...);
template <class I, class... A> I find(I first, A &&...);
template <class I, class... A> I copy(I first, A &&...);
template <class I, class... A> I transform(I first, A &&...);
template <class I, class... A> void sort(I first, A &&...);
template <class I, class... A> void fill(I first, A &&...);
template <class I, class... A> void fill_n(I first, A &&...);
template <class I, class... A> void generate(I first, A &&...);
template <class I, class... A> void iota(I first, A &&...);
template <class I, class... A> void shuffle(I first, A &&...);
template <class I, class... A> bool equal(I first, A &&...);
template <class I, class T, class... A> T accumulate(I first, I end, T v, A &&...);
template <class I, class T, class... A> T inner_product(I first, I end, I other, T v, A &&...);
template <class F> F bind(F f, ...);
template <class T> T &ref(T &v);
}
namespace thrust {
template <class T> struct device_ptr { T *get() const; device_ptr operator+(ptrdiff_t n) const; T &operator*(); };
template <class T> struct device_vector : std::vector<T> {
    using std::vector<T>::vector;
    device_ptr<T> data();
    template <class U> device_vector &operator=(const U &);
    template <class U> device_vector(const U &);
};
template <class T> struct host_vector : std::vector<T> { using std::vector<T>::vector; };
template <class T> T *raw_pointer_cast(device_ptr<T> p);
template <class T> T *raw_pointer_cast(T *p);
}
